import { basename, join, normalize } from 'node:path'
import { findProgram, isExecutable } from '../io/find-program.ts'
import { isFile } from '../io/path-kind.ts'

/**
 * Template files that commands run: `./check.sh notes.md` and `python3 scripts/check.py notes.md` give the script, not its
 * argument; `grep -q milk notes.md` gives nothing. Paths are relative to the workspace.
 */
export function graderScripts(commands: readonly string[], templateDir: string): string[] {
  const places = [templateDir, join(templateDir, 'initial-state')]
  const isTemplateFile = (path: string): boolean =>
    path !== '.' && !path.startsWith('..') && places.some((place) => isFile(join(place, path)))
  const found = commands
    .flatMap((command) => withoutQuotes(command).split(/[;&|()\n]+/))
    .map((part) => wordsOf(part))
    .map((words) => scriptOf(words, isTemplateFile))
  return [...new Set(found.filter((path) => path !== null))]
}

/**
 * Scripts that commands start first, as `./path` or by an interpreter, and that are missing in the template. Not always a mistake:
 * setup or the agent may create them.
 */
export function missingGraderScripts(commands: readonly string[], templateDir: string): string[] {
  const places = [templateDir, join(templateDir, 'initial-state')]
  const scripts = commands.flatMap((command) => startedScript(firstWords(command)) ?? [])
  return [...new Set(scripts)].filter((path) => !places.some((place) => isFile(join(place, path))))
}

/** Scripts of the template written as `./path` that cannot be started, because they are not executable. */
export function lockedScripts(commands: readonly string[], templateDir: string): string[] {
  const places = [templateDir, join(templateDir, 'initial-state')]
  const programs = commands.flatMap((command) => firstWords(command)[0] ?? [])
  return [...new Set(programs)].filter(
    (path) =>
      path.startsWith('./') &&
      places.some((place) => isFile(join(place, path)) && !isExecutable(join(place, path))),
  )
}

/** Programs that commands start first and that are not on the search path. A command with `||` may do without. */
export function missingPrograms(commands: readonly string[], searchPath: string): string[] {
  const programs = commands
    .filter((command) => !/\|\||\(\s*\)/.test(command))
    .flatMap((command) => firstWords(command)[0] ?? [])
  return [...new Set(programs)].filter(
    (name) => /^[a-z][\w.+-]*$/i.test(name) && !builtIn.test(name) && findProgram(name, searchPath) === null,
  )
}

const builtIn =
  /^(?:alias|bg|break|builtin|case|cd|continue|declare|dirs|done|echo|elif|esac|eval|exit|export|false|fg|fi|for|function|getopts|hash|in|jobs|kill|let|local|mapfile|popd|printf|pushd|pwd|read|readonly|return|select|set|shift|shopt|source|test|times|trap|true|type|typeset|ulimit|umask|unalias|unset|until|wait)$/

function firstWords(command: string): string[] {
  return wordsOf(withoutQuotes(command).split(/[;&|()\n]+/)[0] ?? '')
}

/** `./path`, or what an interpreter is given first when it looks like a path. */
function startedScript([program = '', ...args]: readonly string[]): string | null {
  if (program.startsWith('./')) return program
  const name = basename(program)
  if (!shell.test(name) && !otherInterpreter.test(name)) return null
  const script = args.find((word) => !shell.test(name) || !/^-[eux]+$/.test(word)) ?? ''
  return /^(?!\.\.)[\w.][\w./-]*?(?:\/[\w-]+|\.\w+)$/.test(script) ? script : null
}

/** Programs that run the file they are given, unless they are given code instead. */
const shell = /^(sh|bash|dash|ash|zsh|ksh|fish|\.|source)$/
const otherInterpreter = /^(node|deno|bun|tsx|ruby|perl|php|lua|Rscript|python[\d.]*)$/
/** Prefixes that do not change which command runs. */
const prefix =
  /^([A-Za-z_]\w*=.*|!|if|then|else|do|while|exec|command|env|time|nice|nohup|\d+[smhd]?|timeout)$/
export const workspaceVariable = /^\$\{?(LLM_TOOL_TEST|GANTRY)_FIXTURE_DIR\}?\//

/** Keeps a quoted word; quoted text with blanks is text or code, not a path. */
function withoutQuotes(command: string): string {
  return command.replaceAll(/"([^"]*)"|'([^']*)'/g, (_whole, double?: string, single?: string) => {
    const text = double ?? single ?? ''
    return /[\s;&|()<>]/.test(text) ? '_' : text
  })
}

function wordsOf(part: string): string[] {
  const words = part
    .split(/\s+|(?=[<>])/)
    .map((word) => word.replace(workspaceVariable, ''))
    .filter((word) => word !== '')
  const start = words.findIndex((word) => !prefix.test(basename(word)))
  return start === -1 ? [] : words.slice(start)
}

function scriptOf(words: readonly string[], isTemplateFile: (path: string) => boolean): string | null {
  const [program, ...args] = words
  if (program === undefined) return null
  if (isTemplateFile(normalize(program))) return normalize(program)
  const name = basename(program)
  if (!shell.test(name) && !otherInterpreter.test(name)) return null
  const code = shell.test(name) ? /^-[a-z]*c$/ : /^-[ce]$/
  const inline = args.findIndex((word) => code.test(word))
  const candidates = inline === -1 ? args : args.slice(0, inline)
  return candidates.map((word) => normalize(word)).find(isTemplateFile) ?? null
}
