import { absolutePath, textAt } from '../absolute-path.ts'
import { expandGlob } from '../expand-glob.ts'
import { charsOf } from '../glob-reg-exp.ts'
import { readOptions } from '../options.ts'
import { argOf, type ProgramCall } from '../shell-state.ts'
import { searchIndex } from '../unknown-part.ts'
import { type Literal, literalsOf } from './literals.ts'

/**
 * A program in another language, such as the argument of `python -c`. Its strings are judged by their place: in a call that
 * writes, in one that only reads, or somewhere in a program that also writes.
 */
export function judgeCode(
  given: string,
  invocation: ProgramCall,
  inputs: readonly string[],
  certain: 'sure' | 'all' = 'all',
): void {
  const { shell, state, name } = invocation
  const code = given
    .replaceAll(homeInCode, (found) => (found.startsWith('$') ? '~' : "'~'"))
    .replaceAll(slashed, '/')
    .replaceAll(joinedWhole, '$2')
  const literals = literalsOf(code)
  const text = [code, ...literals.map(({ value }) => value)].join('\n').replaceAll(harmlessWrites, '')
  const writes = writing.test(text)
  const runs = runsPrograms(code, literals, name)
  for (const literal of literals) {
    const use = useOf(literal, code)
    if (use === 'write') {
      const home = /expanduser|expand_path/.test(code) || code !== given ? `${shell.world.home}/` : '~/'
      const path = literal.value.replace(/^\s*\+?>{1,2}\s*/, '').replace(/^~\//, () => home)
      const removes =
        /(?:rmtree|\brm\w*|remove\w*|rimraf|delete\w*|\bre(?:name|place)\w*|\bmove)\s*\(?\s*$/i.test(
          beforeOf(literal, code, 40),
        )
      for (const each of meant(path))
        shell.write(
          argOf(each),
          `${name} code changes it`,
          state,
          removes ? { look: absolutePath(each, state.cwd) } : {},
        )
    } else if (use === 'other' && writes && certain === 'all' && literal.value.length < 4096)
      for (const each of meant(literal.value))
        shell.opaque(each, `${name} code changes files and names it`, { exact: true })
  }
  if (certain === 'sure') return
  if (writes)
    for (const input of inputs)
      if (searchIndex(input) === null)
        shell.opaque(input, `${name} code changes files and is given it`, { exact: true })
      else shell.write(argOf(input), `${name} code changes files and is given it`, state)
  if (runs) runLiterals(literals, code, invocation)

  /** A pattern with which the code searches for files means the files it finds. */
  function meant(value: string): readonly string[] {
    const isPattern = /[*?[]/.test(value) && !/\s/.test(value) && /glob|<[^<>\s]*>/i.test(code)
    return isPattern ? [value, ...expandGlob(charsOf(value, false), state, shell)] : [value]
  }
}

/** The home directory, as languages name it. */
const homeInCode =
  /\$ENV\{['"]?HOME['"]?\}(?=\/)|\b(?:os\.environ\[(['"])HOME\1\]|os\.getenv\((['"])HOME\2\)|(?:pathlib\.)?Path\.home\(\)|(?:os\.path\.)?expanduser\(\s*(['"])~\3\s*\)|(?:require\((['"])(?:node:)?os\4\)|os)\.homedir\(\)|process\.env\.HOME\b|Dir\.home\b|ENV\[(['"])HOME\5\])/g
/** `'~' / '.config'` in Python, `'~' + '/.config'`, `join('~', '.config')`. */
const slashed =
  /(?<=['"]~['"\w./* -]{0,200})(['"])\s*[/+]\s*['"]|(?<=\bjoin\(\s*['"]~[\w'",./* -]{0,200})(['"])\s*,\s*['"]/g

const joinedWhole = /\b(?:require\((['"])(?:node:)?path\1\)|(?:os\.)?path)\.join\(\s*(['"]~[^'"]*['"])\s*\)/g

const harmlessWrites =
  /\b(?:sys\.)?(?:std(?:out|err)|STD(?:OUT|ERR))\.(?:write|flush)\w*|process\.std(?:out|err)\.write|\$std(?:out|err)\.\w+/g

/** Names of calls that change files, in the languages agents use. */
const writing =
  /write|os\.replace|Path\b[^;\n]*\.replace|append_?file|put_contents|\btruncate|unlink|\brm(?:Sync|dir|tree|_rf|_f|_r)?\b|\brename|\bcopy|\bcp(?:Sync)?\b|\bmove\b|\bmv\b|\bremove|\bdelete\b|symlink|\blink(?:Sync)?\b|chmod|chown|utime|\btouch\b|mkdir|\bf(?:open|puts)\b|\bopen(?:Sync|at)?\b|inplace|\$\^I\b|sysopen|\bspew\b|\bspit\b|FileUtils|\bdump\b|\bto_(?:csv|json|pickle)\b|savetxt|\bsave\b|outputFile|extract(?:all)?\b|set_key|\btee\b|File\.new/i

/**
 * Whether the code starts other programs. A sentence in a string is not code, so the words in it do not count, unless the code evaluates
 * texts. Backticks run a command only in some languages.
 */
function runsPrograms(code: string, literals: readonly Literal[], name: string): boolean {
  const bare = literals
    .toReversed()
    .reduce(
      (rest, { start, end, value }) => (/\s/.test(value) ? rest.slice(0, start) + rest.slice(end) : rest),
      code,
    )
  const all = evaluating.test(bare) ? [code, ...literals.map(({ value }) => value)].join('\n') : bare
  const words = literals.map(({ value }) => value).filter((value) => !/\s/.test(value))
  const quotes = /^(?:perl|ruby|php|sh|bash|irb|raku)/.test(name) ? code.includes('`') : /\$`/.test(code)
  return quotes || running.test([all, ...words].join('\n'))
}

const evaluating =
  /\beval\b|\bexec\b|\bcompile\b|\bFunction\b|\bvm\b|runpy|instance_eval|\bdecode\b|b64|from_?hex/i

const running =
  /\bsystem\b|subprocess|popen|\bexec|\bspawn|\bfork\b|child_process|\bqx\b|%x|shell_exec|passthru|proc_open|Deno\.Command|Deno\.run|Bun\.\$|Bun\.spawn|os\.run|\bsh\b|execa|zx|\bcall\b|check_output|Kernel|Open3/i

/** What is written before a string, without functions that only give its path another form. */
function beforeOf({ start }: Literal, code: string, length: number): string {
  return code
    .slice(Math.max(0, start - length), start)
    .replace(
      /(?:[\w.]*\b(?:expanduser|abspath|realpath|resolve|normpath|i?glob|fspath)\s*\(\s*[rfbu]*)+$/,
      '',
    )
}

/** What the call around a string would do with it. */
function useOf(literal: Literal, code: string): 'read' | 'write' | 'other' {
  const { value, end } = literal
  const before = beforeOf(literal, code, 80)
  const after = code.slice(end, end + 80)
  if (directWrite.test(before) || methodWrite.test(after)) return 'write'
  if (
    /\bopen(?:Sync)?\s*\(\s*$|\bfopen\s*\(\s*$|(?:File|IO|io)\.open\s*\(?\s*$|Path\([^)]*\)\.open\s*\(\s*$/.test(
      before,
    )
  ) {
    const mode = /^\s*\)?\s*,\s*(?:mode\s*=\s*)?['"]([^'"]*)['"]/.exec(after)?.[1]
    if (mode === undefined)
      return /^\s*\)|^\s*,\s*(?:encoding|errors|newline)\b|^\s*$|^\s*&/.test(after) ? 'read' : 'write'
    return /[wax+]/.test(mode) ? 'write' : 'read'
  }
  if (/\bopen\b[^;]*['"]\s*\+?>{1,2}\s*['"]\s*,\s*$|\bopen\b[^;]*,\s*['"]>{1,2}\s*$/.test(before))
    return 'write'
  if (/\bopen\b[^;]*['"]<(?::\w+)?['"]\s*,\s*$/.test(before)) return 'read'
  if (/\bopen\b[^;]*[(,\s]\s*$/.test(before) && /^\s*\+?>/.test(value)) return 'write'
  if (directRead.test(before) || methodRead.test(after) || content.test(before)) return 'read'
  if (isText(before, after)) return 'read'
  return 'other'
}

/** A piece of text that is looked for or put in, and a key: no name of a file. */
function isText(before: string, after: string): boolean {
  return (
    (/(?<!\bos)\.replace(?:All)?\s*\(\s*$/.test(before) && /^\s*,/.test(after)) ||
    /(?<!\bos)\.replace(?:All)?\s*\([^(),]*,\s*$/.test(before) ||
    /(?:\.(?:gsub|split|count)|\bre\.(?:subn?|search|match|findall|compile))\s*\((?:[^()]*,)?\s*$/.test(
      before,
    ) ||
    (/[{,\n]\s*$/.test(before) && /^\s*:/.test(after)) ||
    (/[\w)\]]\[\s*$/.test(before) && /^\s*\]/.test(after)) ||
    (/\.get\(\s*$/.test(before) && /^\s*[,)]/.test(after))
  )
}

const directWrite =
  /(?:\b(?:write|append|output)_?(?:text|json)?_?(?:file|stream)\w*|\b(?:truncate|unlink|rm|rmdir|chmod|chown|utimes|mkdir)(?:Sync)?|createWriteStream|Deno\.(?:write\w*|remove\w*|truncate\w*|create\w*|mkdir\w*)|Bun\.write|os\.(?:remove|unlink|truncate|chmod|mkdir|rmdir|mknod|renames?|replace)|fs(?:['"]\))?\.rename(?:Sync)?|renameSync|shutil\.(?:rmtree|move)|file_put_contents|(?:File|IO)\.(?:write|binwrite|delete|unlink|truncate)|FileUtils\.(?:rm\w*|touch|mkdir\w*)|set_key)\s*\(?\s*$/i

const methodWrite =
  /^\s*\)\s*\.\s*(?:write_text|write_bytes|unlink|touch|rename|replace|chmod|mkdir|rmdir|symlink_to|hardlink_to|write|delete|writer)\b/

const directRead =
  /(?:copy(?:2|file\w*|tree|Sync)?|cp(?:Sync)?|read\w*|exists\w*|is_?file|is_?dir|l?stat\w*|access\w*|load_dotenv|dotenv_values|find_dotenv|file_get_contents|parse_ini_file|file_exists|require|import|basename|dirname|extname|print|console\.log|echo|puts)\s*\(?\s*$|\bconfig\s*\(\s*\{[^}]*path\s*:\s*$/

/** The written content, not the target. */
const content =
  /(?:\.write\w*|\bprint|\bputs|\bsyswrite)\s*\(\s*$|(?:write\w*|append\w*|put_contents)\s*\(\s*(?:['"][^'"]*['"]|[\w.]+)\s*,\s*$/

const methodRead =
  /^\s*\)\s*\.\s*(?:read_text|read_bytes|exists|is_file|is_dir|stat|read|text|json|open\s*\(\s*\))\b/

/** Strings of a program that starts others may be commands, whole or word by word. */
function runLiterals(literals: readonly Literal[], code: string, { shell, state }: ProgramCall): void {
  for (const [index, { value, start }] of literals.entries()) {
    const before = code.slice(Math.max(0, start - 40), start)
    shell.script(isSentence(value) && !runsIt.test(before) ? value.replaceAll(/`[^`]*`/g, ' ') : value, state)
    const words = [value]
    for (let at = index; at + 1 < literals.length; at += 1) {
      const [here, next] = [literals[at], literals[at + 1]]
      if (here === undefined || next === undefined || !/^[\s,[\](]*$/.test(code.slice(here.end, next.start)))
        break
      words.push(next.value)
    }
    if (words.length > 1 && (index === 0 || words[0] !== '')) shell.run(words.map(argOf), state)
  }
}

/** Prose, such as a line of Markdown: its backticks are typography. */
function isSentence(text: string): boolean {
  return /^\s*(?:#+\s|[-*>]\s|\d+\.\s)?[A-Z][a-z]+\s/.test(text)
}

/** The string is the first argument of a call that runs it. */
const runsIt =
  /(?:system|popen\d?|run|call|check_\w+|exec\w*|spawn\w*|Popen|getoutput|getstatusoutput|qx|\$|passthru|bash|sh)\s*[([]*\s*[rfbu]*$/

/** `awk`: files it prints to, commands it prints to or runs, and files it edits in place. */
export function judgeAwk(invocation: ProgramCall): void {
  const { args, state, shell, name } = invocation
  const { has, values, operands } = readOptions(args, 'v assign f file F i include e source')
  const inline = values('e source')
  const own = inline.length === 0 && !has('f') && !has('file')
  const made = values('f file').map(({ value }) => textAt(value, state) ?? '')
  const code = own ? (operands[0]?.value ?? '') : [...inline.map(({ value }) => value), ...made].join('\n')
  const files = own ? operands.slice(1) : operands
  if (values('i include').some(({ value }) => value === 'inplace'))
    for (const file of files) shell.write(file, `${name} -i inplace`, state)
  const assigned = [...values('v assign'), ...files].map(({ value }) => /^(\w+)=(.*)$/s.exec(value) ?? [])
  for (const [, target = ''] of code.matchAll(/\bprintf?\b[^;\n}]*?>{1,2}\s*([^;\n}]+)/g))
    writeTo(target.trim())
  if (/\bsystem\s*\(|\||getline/.test(code))
    for (const { value } of literalsOf(code)) shell.script(value, state)
  return

  function writeTo(target: string): void {
    const literals = literalsOf(target)
    const [first] = literals
    if (first !== undefined && first.start <= 1 && first.end >= target.length - 1) {
      shell.write(argOf(first.value), `${name} prints to it`, state)
      return
    }
    const [, , value] = assigned.find(([, variable]) => variable === target.replaceAll(/[()\s]/g, '')) ?? []
    if (value !== undefined) shell.write(argOf(value), `${name} prints to it`, state)
    else
      for (const text of [
        ...literals.map((each) => each.value),
        ...args.map((each) => each.value),
        ...(/ENVIRON/.test(code) ? [...state.variables.values()].flat() : []),
      ]) {
        if (text !== code)
          shell.opaque(text, `${name} prints to a file whose name is only known when it runs`, {
            exact: true,
          })
      }
  }
}
