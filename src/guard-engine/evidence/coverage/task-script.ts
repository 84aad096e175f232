import { type Command, parse } from 'unbash'
import { asObject, parseObject } from '../../../core/json-fields.ts'
import { type Check, type CoveragePlace, pyprojectScript, scriptsIn } from './read-check.ts'

/** Where each program looks for its tasks, the first one that is there. */
export const taskFiles = {
  make: ['GNUmakefile', 'makefile', 'Makefile'],
  just: ['justfile', 'Justfile', '.justfile'],
  task: ['Taskfile.yml', 'taskfile.yml', 'Taskfile.yaml', 'taskfile.yaml'],
} as const

/** The shell text that a task runs, so that it succeeds only if every command in it does; null when it cannot be read. */
export function taskScript(check: Check, place: CoveragePlace): string | null {
  if (check.unknown.length > 0 || check.less.length > 0) return null
  const [kind = '', ...rest] = check.runner.split(':')
  const name = rest.join(':')
  switch (kind) {
    case 'script':
      return packageScript(name, check, place)
    case 'make':
      return firstOf(taskFiles.make, place, (text) => makeScript(text, name))
    case 'just':
      return firstOf(taskFiles.just, place, (text) => justScript(text, name))
    case 'task':
      return firstOf(taskFiles.task, place, (text) => taskfileScript(text, name === '' ? 'default' : name))
    case 'pdm':
    case 'hatch':
    case 'poe':
      return allOf(pyprojectScript(place.read('pyproject.toml'), kind, name) ?? [])
    case 'deno':
    case 'composer':
      return check.forwarded.length > 0 ? null : listedScript(name, kind, place)
    case 'rake':
      return name === 'spec' && plainSpecs.test(place.read('Rakefile') ?? '') ? 'rspec' : null
    case 'tox':
      return toxScript(place.read('tox.ini'), check.forwarded)
    case 'nox':
      return noxScript(place.read('noxfile.py'), check.forwarded)
    default:
      return null
  }
}

/** A task of `deno.json` or a script of `composer.json`: a text, or several that must all succeed. */
function listedScript(name: string, kind: 'deno' | 'composer', { read }: CoveragePlace): string | null {
  const [file, key] = kind === 'deno' ? ['deno.json', 'tasks'] : ['composer.json', 'scripts']
  const own = asObject(parseObject(read(file) ?? '')?.[key])?.[name]
  const lines: readonly unknown[] = Array.isArray(own) ? own : [own]
  // Composer reads `@` as another script, and a class as a function of PHP.
  const isPlain = (line: unknown): line is string => typeof line === 'string' && !/^@|::/.test(line)
  return lines.every(isPlain) ? allOf(lines) : null
}

/** Without settings of its own. */
const plainSpecs = /^[ \t]*RSpec::Core::RakeTask\.new(?:[ (]:spec\)?)?[ \t]*$/m

/** The command of a script that is nothing else; null for anything longer. */
export function onlyCommandOf(script: string): Command | null {
  const { commands, errors } = parse(script)
  let [only, ...more] = commands
  if (only?.command.type === 'Subshell') [only, ...more] = [...more, ...only.command.body.commands]
  if (errors !== undefined || only === undefined || more.length > 0) return null
  return only.command.type === 'Command' && only.background !== true ? only.command : null
}

/** The last command of a script in which every command must succeed. */
export function lastCommandOf(script: string): Command | null {
  const { commands, errors } = parse(script)
  let list = commands
  for (;;) {
    const [only, ...more] = list
    if (errors !== undefined || only === undefined || more.length > 0 || only.background) return null
    const { command } = only
    const last = command.type === 'AndOr' ? command.commands.at(-1) : command
    if (command.type === 'AndOr' && command.operators.includes('||')) return null
    if (last?.type === 'Command') return last
    if (last?.type !== 'Subshell' && last?.type !== 'BraceGroup') return null
    list = last.body.commands
  }
}

function firstOf(
  names: readonly string[],
  { read }: CoveragePlace,
  script: (text: string) => string | null,
): string | null {
  for (const name of names) {
    const text = read(name)
    if (text !== null) return script(text)
  }
  return null
}

/** All must succeed, each in a shell of its own. */
function allOf(lines: readonly string[]): string | null {
  return lines.length === 0 ? null : lines.map((line) => `(${line}\n)`).join(' && ')
}

function packageScript(name: string, { program, forwarded }: Check, place: CoveragePlace): string | null {
  const scripts = scriptsIn(place.read('package.json'))
  const own = scripts.get(name)?.replace(severalScripts, (_, names: string) =>
    names
      .trim()
      .split(/\s+/)
      .map((each) => `npm run ${each}`)
      .join(' && '),
  )
  if (own === undefined) return null
  const passed = forwarded.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", '')}'`))
  const runsHooks = program === 'npm' || program === 'bun'
  const around = (prefix: string): readonly string[] => {
    const script = runsHooks ? scripts.get(prefix + name) : undefined
    return script === undefined ? [] : [script]
  }
  return allOf([...around('pre'), [own, ...passed].join(' '), ...around('post')])
}

/** All of them must succeed. */
const severalScripts =
  /^(?:run-[sp]|npm-run-all)(?: -[slnps]+| --(?:silent|serial|sequential|parallel|print-label))*((?: [\w:-]+)+)$/

const maxDepth = 8

/** null when something in the file changes how recipes run or end. */
function makeScript(text: string, wanted: string): string | null {
  if (
    /^(?:\.IGNORE|\.ONESHELL|\.SHELLFLAGS|\.SILENT\b.*-i)|^[ \t]*(?:export[ \t]+|override[ \t]+)?(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)[ \t]*[:?+]?=|^-?include\b/m.test(
      text,
    )
  )
    return null
  const lines = text.replaceAll(/\\\n[ \t]*/g, ' ').split('\n')
  const variables = new Map<string, string>([['MAKE', 'make']])
  for (const line of lines) {
    const [, name, value = ''] = /^(?:export[ \t]+)?(\w+)[ \t]*[:?]?=[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    if (name !== undefined) variables.set(name, value)
  }
  const first = lines
    .map((line) => /^([\w-]+)[ \t]*:(?!=)/.exec(line)?.[1])
    .find((name) => name !== undefined)
  return allOf(recipe(wanted === '' ? (first ?? '') : wanted, 0))

  function recipe(target: string, depth: number): readonly string[] {
    const at = lines.findIndex((line) => isRule(line, target))
    const head = /^[^:]*::?([^#]*)/.exec(lines[at] ?? '')?.[1]
    if (head === undefined || depth > maxDepth) return []
    const [needs = '', inline] = head.split(';', 2)
    const before = needs
      .split(/\s+/)
      .filter((name) => name !== '' && name !== '|')
      .flatMap((name) => recipe(name, depth + 1))
    const end = lines.slice(at + 1).findIndex((line) => line.trim() !== '' && !/^[\t#]/.test(line))
    const own = lines
      .slice(at + 1, end === -1 ? undefined : at + 1 + end)
      .filter((line) => /^\t[ \t]*[^#\s]/.test(line))
    return [...before, ...(inline === undefined ? own : [inline, ...own]).map(commandOf)]
  }

  function commandOf(line: string): string {
    const [, marks = '', command = ''] = /^([\t @+-]*)(.*)$/s.exec(line) ?? []
    const expanded = command.replaceAll(/\$[({](\w+)[)}]|\$\$/g, (whole, name: string | undefined) =>
      name === undefined ? '$' : (variables.get(name) ?? whole),
    )
    return marks.includes('-') ? `{ ${expanded}\n} || true` : expanded
  }
}

function isRule(line: string, target: string): boolean {
  const names = /^([\w./% \t-]+?)[ \t]*::?(?!=)/.exec(line)?.[1]
  return names?.split(/[ \t]+/).includes(target) === true
}

function justScript(text: string, wanted: string): string | null {
  if (/^set\s+(?:shell|ignore-comments|positional)|^import\b|^mod\b/m.test(text.replace(usualShell, '')))
    return null
  const lines = text.split('\n')
  const first = /^@?([\w-]+)[^:=\n]*:(?!=)/m.exec(text)?.[1]
  return allOf(recipe(wanted === '' ? (first ?? '') : wanted, 0))

  function recipe(target: string, depth: number): readonly string[] {
    const isHead = (line: string): boolean =>
      new RegExp(String.raw`^@?${target}(?:\s[^:]*)?:(?!=)`).test(line)
    const at = /^[\w-]+$/.test(target) ? lines.findIndex(isHead) : -1
    if (at === -1 || depth > maxDepth) return []
    const needs = /:(.*)$/.exec(lines[at] ?? '')?.[1]?.split(/\s+/) ?? []
    const end = lines.slice(at + 1).findIndex((line) => line.trim() !== '' && !/^\s/.test(line))
    const own = lines.slice(at + 1, end === -1 ? undefined : at + 1 + end).map((line) => line.trim())
    const before = needs.filter((name) => /^[\w-]+$/.test(name)).flatMap((name) => recipe(name, depth + 1))
    // Without arguments, `*args` is empty.
    const [, rest] = /\s\*(\w+):/.exec(lines[at] ?? '') ?? []
    return [
      ...before,
      ...own
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => line.replace(/ *\{\{ *(\w+) *\}\}$/, (all, name) => (name === rest ? '' : all)))
        .map((line) => (/^@?-/.test(line) ? 'true' : line.replace(/^@/, ''))),
    ]
  }
}

/** null when the file has more than tasks, and a task more than commands of one line and the tasks that it needs. */
function taskfileScript(text: string, wanted: string): string | null {
  const lines = text
    .replaceAll(/ *\{\{ *\.CLI_ARGS *\}\}/g, '')
    .split('\n')
    .filter((line) => !/^\s*(?:#.*|---)?$/.test(line))
  if (lines.some((line) => /\{\{|^(?!(?:version|silent|tasks):)\S/.test(line))) return null
  const found = task(wanted, 0)
  return found.includes(null) ? null : allOf(found.filter((line) => line !== null))

  function task(name: string, depth: number): readonly (string | null)[] {
    const at = lines.findIndex((line) => line === `  ${name}:` || line.startsWith(`  ${name}: `))
    if (at === -1 || depth > maxDepth) return [null]
    const only = (lines[at] ?? '').slice(name.length + 3).trim()
    const needs: (string | null)[] = []
    const own: (string | null)[] = []
    let key = 'cmds'
    for (const line of [...(only === '' ? [] : [`    - ${only}`]), ...lines.slice(at + 1)]) {
      if (!line.startsWith('    ')) break
      const [, named, value = ''] = /^ {4}(\w+):(?: +(.*))?$/.exec(line) ?? []
      const item = named === undefined ? /^ {4,}- +(.+)$/.exec(line)?.[1] : value
      key = named ?? key
      if (/^(?:desc|summary|silent)$/.test(key) && named !== undefined) continue
      const items = /^\[(.*)\]$/.exec(item ?? '')?.[1]?.split(/, */) ?? (item === '' ? [] : [item ?? '|'])
      for (const each of items) {
        const [, inner] = /^task: +([\w:-]+)$/.exec(key === 'deps' ? `task: ${each}` : each) ?? []
        const command = /^cmds?$/.test(key) ? oneLine.exec(each.replace(/^cmd: +/, ''))?.groups?.text : null
        if (inner === undefined) own.push(command ?? null)
        else (key === 'deps' ? needs : own).push(...task(inner, depth + 1))
      }
    }
    // Tasks that it needs run at the same time: none has the last word.
    return [...needs, ...(own.length === 0 && needs.length > 1 ? ['true'] : own)]
  }
}

/** A text of YAML, with or without quotes. */
const oneLine = /^(?:"(?<text>[^"\\#]+)"|'(?<text>[^'#]+)'|(?<text>(?!\w+: )[^\s"'|>&*!%@`{[][^#]*))$/

const usualShell =
  /^set\s+shell\s*:=\s*\[\s*["'](?:\/(?:usr\/)?bin\/)?(?:ba|z)?sh["'](?:\s*,\s*["'](?:-[euxo]*c?|pipefail)["'])+\s*,?\s*\]/m

/** Every environment of `tox` or one of `tox -e` runs the commands of its section. */
function toxScript(text: string | null, args: readonly string[]): string | null {
  if (text === null) return null
  const named = args[0] === '-e' || args[0] === 'run' ? args.at(-1) : undefined
  const isPlain = args.length === 0 || (args.length <= 3 && named !== undefined && !named.startsWith('-'))
  if (!isPlain || /^[ \t]*ignore_(?:errors|outcome)\s*=\s*true/im.test(text)) return null
  const section = (name: string): string | undefined =>
    new RegExp(String.raw`^\[${name}\]$([\s\S]*?)(?=^\[|(?![\s\S]))`, 'm').exec(text)?.[1]
  const own = named === undefined || !/^[\w-]+$/.test(named) ? undefined : section(`testenv:${named}`)
  const commands = /^commands\s*=[ \t]*((?:.*\n?)(?:[ \t]+.*\n?)*)/m
  // An environment with commands of its own does not run the common ones.
  const names = /^env_?list\s*=((?:.*\n?)(?:[ \t]+.*\n?)*)/m.exec(text)?.[1]?.split(/[\s,{}]+/) ?? []
  const isCommon = (name: string): boolean => name !== '' && !commands.test(section(`testenv:${name}`) ?? '')
  if (named === undefined && names.some((name) => name !== '') && !names.some(isCommon)) return null
  const lines = commands.exec(own ?? '')?.[1] ?? commands.exec(section('testenv') ?? '')?.[1]
  if (lines === undefined) return null
  return allOf(
    lines
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) =>
        line.startsWith('-') ? 'true' : line.replaceAll(/(?<!\s)\s*\{posargs(?::([^}]*))?\}/g, ' $1'),
      )
      .map((line) => line.replaceAll(/\{env(?:bin|python)\}\//g, '').trim()),
  )
}

/** The commands with literal arguments in the sessions that `nox -s` names, or in all. */
function noxScript(text: string | null, args: readonly string[]): string | null {
  if (text === null) return null
  const [option = '', ...names] = args
  const isNamed = /^(?:-s|--session|--sessions|-e)$/.test(option) && names.length > 0
  if (args.length > 0 && (!isNamed || names.some((name) => name.startsWith('-')))) return null
  const sessions = [...text.matchAll(/^def (\w+)\(session[^)]*\)[^:]*:\n((?:(?:[ \t].*)?\n)*)/gm)]
  const wanted = new Set(names.map((name) => name.replace(/-.*$/, '')))
  const bodies = sessions.filter(([, name = '']) => wanted.size === 0 || wanted.has(name))
  return allOf(
    bodies.flatMap(([, , body = '']) =>
      [...body.matchAll(/^ {4}session\.run\(([^()]*?)(?:, *external=True)?\)$/gm)].flatMap(
        ([, call = '']) => {
          const words = [...call.matchAll(/["']([^"']*)["']/g)].map(([, word = '']) => word)
          const isPlain = call.replaceAll(/["'][^"']*["']|\*session\.posargs|[\s,]/g, '') === ''
          return isPlain && words.length > 0 ? [words.join(' ')] : []
        },
      ),
    ),
  )
}

/** A shell script that stops at the first failure, with its commands joined so that this is visible; null for any other. */
export function scriptFileText(text: string): string | null {
  const { commands, errors } = parse(text)
  if (errors !== undefined || commands.length === 0 || text.includes('<<')) return null
  const [first, ...rest] = commands.map(({ pos, end }) => text.slice(pos, end))
  const isStrict = /^set\s+-[uxv]*e[uxv]*(?:o\s+pipefail)?$/.test(first ?? '') || /^#!.*\s-[a-z]*e/.test(text)
  if (!isStrict && commands.length > 1) return null
  const setup = /pipefail$/.test(first ?? '') ? 'set -o pipefail && ' : ''
  const body = /^set\s/.test(first ?? '') ? rest : [first, ...rest]
  return body.length === 0 ? null : setup + body.map((each) => `{ ${each}\n}`).join(' && ')
}
