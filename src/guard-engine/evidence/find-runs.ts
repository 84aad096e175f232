import { posix } from 'node:path'
import { type AndOr, type Command, type ParsedScript, parse } from 'unbash'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { unknownExit } from '../../shell/exit-status.ts'
import { movesShell, type ScriptState } from '../../shell/script-state.ts'
import { type SimpleCommand, simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'
import { unrollLoops } from '../../shell/unroll-loops.ts'
import { type InnerScript, type PlainCommand, unwrapPlain } from '../../shell/unwrap-command.ts'
import { type CommandReading, type ScriptReader, walkScript } from '../../shell/walk-script.ts'
import type { DeclaredCommand } from '../contract.ts'
import { type CoveragePlace, readChecks } from './coverage/read-check.ts'
import { runnerOptions } from './coverage/runner-options.ts'
import { shownOutput } from './coverage/shown-output.ts'
import { shownStatuses } from './coverage/shown-status.ts'
import { lastCommandOf, onlyCommandOf, scriptFileText, taskScript } from './coverage/task-script.ts'
import {
  type FoundRun,
  matchCommand,
  partKey,
  type RunDoubt,
  steeringOf,
  type WantedCommand,
  wantedCommand,
} from './match-command.ts'
import { mayChangeFiles } from './may-change-files.ts'
import { insidePackage, withoutScope } from './package-checks.ts'

export interface FoundRuns {
  readonly runs: readonly FoundRun[]
  /** If the call fails, this command failed, because nothing else in the call can fail. */
  readonly attributable: boolean
  /** Commands that start only after the runs succeeded may change files: the tree of the runs is the one before the call. */
  readonly changesLater?: true
  /** Only commands that ended before the runs began may change files: the tree of the runs is the one after the call. */
  readonly changesEarlier?: true
}

export interface RunPlace extends CoveragePlace {
  /** Where the call starts. null when unknown. */
  readonly directory: string | null
  /** The directory may be the one in which the call ended. */
  readonly isAmbiguous?: boolean
  /** What an earlier call did to the shell, for an agent with one persistent shell. */
  readonly changed?: string | null
  readonly language: 'bash' | 'powershell'
  /** Resolves links in a path. */
  real(path: string): string
}

const none: FoundRuns = { runs: [], attributable: false }
const maxScriptChars = 200_000
/** Of tasks that run tasks. */
const maxDepth = 8

/** Which declared commands a shell call runs, and whether the end of the call proves anything about each. */
export function findRuns(written: string, declared: readonly DeclaredCommand[], given: RunPlace): FoundRuns {
  if (declared.length === 0 || written.trim() === '') return none
  const script = unrollLoops(
    written
      .replaceAll(namedByShell, '$1')
      .replaceAll(printedLater, '{ $2\n} | cat')
      .replaceAll(cargoParts, '$1$2'),
  )
  const texts = [script, given.read('package.json')?.replace(/^[\s\S]*?"scripts"/, '') ?? '']
  const place = { ...given, free: texts.every((text) => !readsVariables.test(text)) }
  if (place.language === 'powershell') return inPowerShell(script, declared, place)
  const parsed = script.length > maxScriptChars ? null : parse(script)
  if (parsed === null || hasErrors(parsed)) return unreadable(script, declared, place)
  const wanted = declared.map((each) => wantedCommand(each, place))
  const whole = wanted.filter(
    ({ parts, inside, declared: { command } }) =>
      (parts.length === 0 || inside !== undefined) && [script, written].some((each) => isSame(command, each)),
  )
  if (whole.length > 0) return { runs: whole.map((each) => wholeRun(each, place)), attributable: true }
  const moves = simpleCommandsIn(parsed).some((command) => movesShell(simpleCommand(command)))
  const directory = moves && place.isAmbiguous === true ? null : place.directory
  const { root: top, free, changed = null } = place
  const isDirectory = (path: string): boolean => (place.list?.(path) ?? null) !== null
  const start = { directory, top, free, pipefail: false, changed, isDirectory }
  const walked = walkScript(parsed, start, runReader(wanted, place, new Set(simpleCommandsIn(parsed))))
  const cleared = new Set(clearedBefore(parsed, (node) => isRun(node, wanted, place)))
  const ran = walked.found.flatMap(({ item }) => (item.why === null ? [item] : []))
  const tasks = new Set(ran.map(({ inTask, at }) => (inTask === 'strict' ? at : undefined)))
  const direct = new Set(
    ran.map(({ inTask, at, wanted: { declared } }) =>
      inTask === undefined && declared.kind === 'test' ? at : undefined,
    ),
  )
  const shows = shownOutput(parsed, {
    isRun: (node) =>
      (tasks.has(node) || direct.has(node) || isRun(node, wanted, place)) &&
      endsWithSummary(simpleCommand(node).words, wanted, place),
    isTask: (node) => tasks.has(node),
    isRunner: (node) => isKnownRunner(simpleCommand(node).words, place),
    inside: (node) => {
      const outer = simpleCommand(node)
      const inner = innerScript(outer, unwrapPlain(outer), place)
      const read = inner === null ? null : parse(inner.source)
      return read === null || hasErrors(read) ? null : read
    },
    isCleared: (node) => cleared.has(node),
    read: place.read,
    free: place.free,
    look: (path) => (directory === place.root ? lookAt(path, place) : null),
  })
  const statuses = shownStatuses(parsed.commands)
  const last = walked.found.findLast(({ item }) => item.why === null)
  const found = walked.found.map(({ item, doubt }): FoundRun => {
    const isHidden = item.why === null && doubt !== null
    const byStatus = isHidden && item.at !== undefined ? statuses.get(item.at) : undefined
    const isShown = isHidden && doubt.kind === 'masked' && shows !== null
    // What one filter hides in a chain ran one after the other: the green end of the last one proves the earlier ones.
    const isChained = doubt === last?.doubt && (item.inTask === 'strict' || item.at !== last.item.at)
    const isOwn = isShown && item.inTask === undefined ? shows : null
    const byOutput = isShown && isChained ? { ...shows, isMixed: true, isEarlier: true as const } : isOwn
    const by = { ...(byOutput !== null && { byOutput }), ...(byStatus !== undefined && { byStatus }) }
    return { ...item, why: item.why ?? doubt, ...by }
  })
  const { meddler, earlier, later } = meddlerIn(parsed, wanted, place, lasting.test(script))
  const runs = settled(meddler === null ? found : found.map((run) => meddled(run, meddler)))
  const counted = new Set(found.filter(({ why }) => why?.kind !== 'other').map((run) => run.wanted))
  return {
    runs,
    attributable: counted.size === 1 && !walked.hasOthers,
    ...(later && { changesLater: true }),
    ...(earlier && { changesEarlier: true }),
  }
}

/** The tests that a call runs, each also in the directories that it names: for a project of which no check is known. */
export function testsIn(
  script: string,
  { root, directory }: Pick<RunPlace, 'root' | 'directory'>,
): readonly DeclaredCommand[] {
  const commands = script.length > maxScriptChars ? [] : simpleCommandsIn(parse(script)).map(simpleCommand)
  const places = commands.flatMap(({ words: [name, place = ''] }) =>
    name === 'cd' && /^[\w@.][\w@./-]*$/.test(place) ? [place] : [],
  )
  if (directory?.startsWith(`${root}/`)) places.push(directory.slice(root.length + 1))
  return commands
    .map((command) => unwrapPlain(command, 'launched').command.words.join(' '))
    .filter((command) => !command.includes('\0') && kindOfCommand(command) === 'test')
    .flatMap((command) => [command, ...places.map((place) => `cd ${place} && ${command}`)])
    .map((command) => ({ command, kind: 'test', source: 'the call', explicit: false }))
}

/** Both together run what `cargo test` does. */
const cargoParts =
  /\b(cargo test(?: [^&|;\n]*?)?) (?:--all-targets|(?:--lib --bins )?--tests)((?: [^&|;\n]*?)?)\s*&&\s*cargo test --doc(?: [^&|;\n]*?)?(?=\s*(?:&&|[|;\n]|$|2>))/g

/** `$(which pytest)`, and `out=$(pytest); echo "$out"`. */
const namedByShell = /\$\((?:which|command -v) ([\w.-]+)\)/g
const printedLater =
  /(?<![^\s;&])(\w+)="?\$\(([^()`$<\n]+)\)"?[ \t]*(?:;|&&|\n)[ \t]*(?:echo|printf '%s\\n') "\$\{?\1\}?"/g

/** What may still run after its command has ended. */
const lasting =
  /(?:^|[^&>|])&(?![&>\d])|[<>]\(|\b(?:nohup|setsid|disown|daemon\w*|Popen|spawn\w*|fork|detached|at|batch|tmux|screen|systemd-run|crontab|coproc|trap|docker|podman|subprocess|child_process|multiprocessing|[Tt]hread\w*)\b|os\.system/

/** Code in an argument that does more than to import and print. */
function runsCode(command: Command): boolean {
  const [name = '', flag = '', code = ''] = simpleCommand(command).words
  if (!/^(?:node|bun|deno|python[\d.]*|perl|ruby|php)$/.test(name) || !/^-\w*[cepr]$/.test(flag)) return false
  return !/^\s*(?:(?:(?:import|from) [\w., ]+|(?:print|console\.log)\([\w.,'" ()]*\))[;\s]*)*$/.test(code)
}

/** Programs and scripts for which any variable may be a program or an option. */
const readsVariables = /\b(?:g?make|just|task|rake|(?:ba|z)?sh)\b|\$(?!\?)\w/

/** Text of a file of the project, or the names in one of its directories. */
function lookAt(path: string, { root, read, list }: RunPlace): string | null {
  const full = posix.join(root, path.startsWith(`${root}/`) ? path.slice(root.length) : path)
  if ((path.startsWith('/') && full === posix.join(root, path)) || !`${full}/`.startsWith(`${root}/`))
    return null
  return list?.(full.replace(/\/$/, ''))?.join('\n') ?? read(full.slice(root.length + 1))
}

/** Tasks whose commands are read. */
const ownTasks = /^(?:script|make|just|task|pdm|hatch|poe):/

/** Whether the command is a task of several commands, and if so, whether it stops at the first failure. */
function taskKind(node: Command, place: RunPlace): 'strict' | 'loose' | null {
  const { words } = simpleCommand(node)
  const checks = readChecks(words, place)
  const file = checks.length === 0 ? strictScript(words, place) : null
  if (file !== null) return onlyCommandOf(file) === null ? 'strict' : null
  const isStrict = checks.every(({ runner }) => ownTasks.test(runner))
  const goesOn = words.some((word) => /^-[a-zA-Z]*[jk]|^--(?:jobs|keep-going)/.test(word))
  const [script] = checks.length === 1 ? checks.map((check) => taskScript(check, place)) : []
  if (checks.length === 0 || (script != null && onlyCommandOf(script) !== null)) return null
  return isStrict && !goesOn ? 'strict' : 'loose'
}

/** Finds runs of the wanted commands: as simple commands, as pipelines and as chains. */
function runReader(
  wanted: readonly WantedCommand[],
  place: RunPlace,
  written: ReadonlySet<Command>,
): ScriptReader<FoundRun> {
  // Commands of a task follow the one that starts it.
  let at: Command | undefined
  let own: ReadonlySet<WantedCommand | null> = new Set()
  return {
    substitutions: false,
    command: (node, state) => {
      const reading = readCommand(node, wanted, state, place)
      if (written.has(node)) {
        at = node
        own = new Set(reading.found.map(({ item }) => (item.why === null ? item.wanted : null)))
      }
      const inTask = at === undefined || at === node ? null : taskKind(at, place)
      const found = reading.found
        .filter(({ item }) => at === node || !own.has(item.wanted))
        .map((each) => ({
          ...each,
          item: { ...each.item, ...(at && { at }), ...(inTask !== null && { inTask }) },
        }))
      return { ...reading, found }
    },
    pipeline: (node, state) => {
      const key = partKey(node)
      const why = doubtOf(state, place) ?? (state.pipefail ? null : openPipe)
      return wanted
        .filter(({ parts }) => parts.length === 1 && parts[0] === key)
        .map((each) => ({ wanted: each, why, limited: false }))
    },
    chain: (chain, end, before) =>
      wanted
        .filter((each) => each.parts.length > 1 && endsWith(chain, end, each.parts))
        .map((each) => {
          const state = before[end - each.parts.length + 1]
          return { wanted: each, why: state === undefined ? null : doubtOf(state, place), limited: false }
        }),
  }
}

function readCommand(
  node: Command,
  wanted: readonly WantedCommand[],
  state: ScriptState | null,
  place: RunPlace,
): CommandReading<FoundRun> {
  const outer = simpleCommand(node)
  const plain = unwrapPlain(outer)
  const inside = wanted.flatMap((each) => matchInside(outer, each, state, place))
  const from = placeOf(outer, state, place)
  const here = matchCommand(outer, plain, wanted, doubtOf(from.state, place), from.place)
  // A run of a package is not one of the root in the wrong place.
  const isElsewhere = ({ why }: FoundRun): boolean => inside.length > 0 && why?.kind === 'directory'
  const matched = [...here.filter((run) => !isElsewhere(run)), ...inside]
  const ran = matched.some(({ why }) => why?.kind !== 'other')
  const found = matched.map((item) => ({ item, doubt: null, exit: unknownExit }))
  const isOther = !ran && !harmless.has(plain.command.words[0] ?? '')
  const isAll = inside.length > 0 || (ran && matched.length === wanted.length)
  const script = isAll ? null : innerScript(outer, plain, place)
  const parsed = script === null ? null : parse(script.source)
  if (script === null || parsed === null || hasErrors(parsed)) return { found, isOther }
  return { found, isOther, script: { parsed, pipefail: script.pipefail, exit: unknownExit } }
}

/** A run of `cd packages/a && npm test`: `npm test` in that directory, or with an option that names it. */
function matchInside(
  outer: SimpleCommand,
  each: WantedCommand,
  state: ScriptState | null,
  place: RunPlace,
): readonly FoundRun[] {
  if (each.inside === undefined) return []
  const { directory, wanted } = each.inside
  const there = insidePackage(place, directory)
  const scoped = withoutScope(outer.words, directory, place)
  const command = scoped === null ? outer : { ...outer, words: scoped }
  const start = scoped === null ? there : place
  const from = placeOf(command, state, start)
  const doubt = doubtOf(from.state, start)
  // In another directory it is another command. In none, the shell stays where it was.
  if (doubt?.kind === 'directory' || !isThere(there)) return []
  const at = scoped === null ? from.place : there
  const found = matchCommand(command, unwrapPlain(command), [wanted], doubt, at)
  return found.filter(({ why }) => why?.kind !== 'other').map((run) => ({ ...run, wanted: each }))
}

function isThere({ read, tests }: RunPlace): boolean {
  return (
    tests.length > 0 ||
    ['package.json', 'Cargo.toml', 'pyproject.toml', 'Makefile', 'go.mod'].some((name) => read(name) !== null)
  )
}

/** What the command runs: the text of a shell, the commands of a task, or those of a strict script of the project. */
function innerScript(outer: SimpleCommand, plain: PlainCommand, place: RunPlace): InnerScript | null {
  if (plain.limited || steeringOf(plain.command, place) !== null || plain.command.fed) return null
  if (plain.script !== null) return { ...plain.script, source: unrollLoops(plain.script.source) }
  const tasks = readChecks(outer.words, place).map((check) => taskScript(check, place))
  if (tasks.length > 0 && !tasks.includes(null))
    return { source: unrollLoops(tasks.join(' && ')), pipefail: false }
  const source = strictScript(plain.command.words, place)
  return source === null ? null : { source: unrollLoops(source), pipefail: false }
}

/** The text of a script of the project that is started without arguments and stops at the first failure. */
function strictScript([program = '', ...args]: readonly string[], place: RunPlace): string | null {
  const file = /^(?:\/bin\/)?(?:ba)?sh$/.test(program) ? args[0] : program.includes('/') ? program : undefined
  const isAlone = file === program ? args.length === 0 : args.length === 1
  if (file === undefined || !isAlone || !/^(?:\.\/)?[\w/-]+(?:\.sh)?$/.test(file)) return null
  const text = place.read(file.replace(/^\.\//, ''))
  const isShell = text !== null && (file !== program || /^#!.*\b(?:ba|da|z|k)?sh\b/.test(text))
  return isShell ? scriptFileText(inItsPlace(text, file)) : null
}

/** The text of a script that is called without arguments, with its own directory in place of the commands that look for it. */
function inItsPlace(text: string, file: string): string {
  const found = text
    .replaceAll(/[ \t]+(?:"\$[@*]"|\$[@*]|"\$\{@\}")(?=\s|$)/g, '')
    .replaceAll(ownDirectory, `${posix.dirname(file)}$1`)
    .replaceAll(absolutePath, '$1')
  const [line, name, value = ''] = /^(?:readonly )?(\w+)=([\w./-]+)\n/m.exec(found) ?? []
  if (line === undefined) return found
  const moved = found.replaceAll(
    new RegExp(String.raw`^cd "?\$\{?${name}\}?([\w./-]*)"?$`, 'gm'),
    `cd ${value}$1`,
  )
  return moved.includes(`$${name}`) || moved.includes(`{${name}}`) ? moved : moved.replace(line, '')
}

const ownDirectory = /"?\$\(dirname (?:-- )?"?\$(?:0|\{?BASH_SOURCE(?:\[0\])?\}?)"?\)([\w./-]*)"?/g
const absolutePath = /"?\$\(cd (?:-P )?(?:-- )?([\w./-]+)(?: *> *\/dev\/null(?: 2>&1)?)? && pwd(?: -P)?\)"?/g

/** Builtins that always succeed. */
const harmless = new Set(['', 'cd', 'set', 'echo', 'printf', ':', 'true', 'source', '.', 'exit', 'export'])

/** Whether the parts are the ones of the chain up to `end`, joined by `&&`. */
function endsWith({ commands, operators }: AndOr, end: number, parts: readonly string[]): boolean {
  const start = end - parts.length + 1
  return (
    start >= 0 &&
    parts.every((part, offset) => {
      const node = commands[start + offset]
      const joins = offset === 0 || operators[start + offset - 1] === '&&'
      return joins && node !== undefined && partKey(node) === part
    })
  )
}

function doubtOf(state: ScriptState | null, place: RunPlace): RunDoubt | null {
  if (state === null) return null
  const { changed, directory } = state
  if (changed !== null) return { kind: 'changed', text: `may not be what it says, because ${changed}` }
  if (directory === null)
    return {
      kind: 'directory',
      text: 'ran in an unknown directory; only `cd` with the full path of the root before it is understood',
    }
  return place.real(directory) === place.root ? null : elsewhere
}

/** Runners that look for the project or their settings in the directories above. */
const searchedUp: Readonly<Record<string, readonly string[]>> = {
  npm: ['package.json'],
  yarn: ['package.json'],
  cargo: ['Cargo.toml'],
  pytest: ['pytest.ini', 'pyproject.toml', 'tox.ini', 'setup.cfg', '.pytest.ini', 'pytest.toml'],
  'ruff check': ['pyproject.toml', 'ruff.toml', '.ruff.toml'],
  'go test': ['go.mod'],
  ctest: ['CMakeLists.txt'],
}

/** Where it runs for its runner: in the root, if it finds the root from a directory below; `below` if it looks only there. */
function placeOf(
  { words }: SimpleCommand,
  state: ScriptState | null,
  place: RunPlace,
): { readonly state: ScriptState | null; readonly place: RunPlace } {
  if (state === null || state.directory === null) return { state, place }
  const real = place.real(state.directory)
  const steps = real.startsWith(`${place.root}/`) ? real.slice(place.root.length + 1).split('/') : []
  const [program = ''] = words
  const [check] = readChecks(words, { ...place, below: steps.join('/') })
  const runner = Object.hasOwn(searchedUp, program) ? program : check?.runner
  const files = searchedUp[runner ?? '']
  if (files === undefined) return { state, place }
  const isIn = (at: number): boolean =>
    files.some((name) => place.read([...steps.slice(0, at), name].join('/')) !== null)
  const isBetween = steps.some((_, at) => isIn(at + 1))
  // In no directory, the shell stays where it was. Without settings, pytest looks at no file above.
  const isThere = steps.length > 0 && (place.list?.(real) ?? null) !== null
  const isFound = isIn(0) || (runner === 'pytest' && place.read('conftest.py') === null)
  if (!isThere || isBetween || !isFound) return { state, place }
  const isNarrow = runner === program && !/^(?:pytest|ctest)$/.test(program) ? {} : { below: steps.join('/') }
  return { state: { ...state, directory: place.root }, place: { ...place, ...isNarrow } }
}

const openPipe: RunDoubt = { kind: 'masked', text: 'is a pipe without `set -o pipefail` before it' }

/** Each command once: a run that counts wins over one that does not, and a doubtful run wins over a mere mention. */
function settled(found: readonly FoundRun[]): readonly FoundRun[] {
  const rank = ({ why }: FoundRun): number => (why === null ? 2 : why.kind === 'other' ? 0 : 1)
  const best = new Map<WantedCommand, FoundRun>()
  for (const run of found) {
    const before = best.get(run.wanted)
    if (before === undefined || rank(run) > rank(before)) best.set(run.wanted, run)
  }
  return [...best.values()]
}

/** For a command that is more than a chain: only the declared text itself is a run of it. */
function wholeRun(wanted: WantedCommand, place: RunPlace): FoundRun {
  const isHere = place.directory !== null && place.real(place.directory) === place.root
  return { wanted, why: isHere ? null : elsewhere, limited: false }
}

const elsewhere: RunDoubt = {
  kind: 'directory',
  text: 'ran in another directory than the root of the project',
}

function isSame(one: string, other: string): boolean {
  return plain(one) === plain(other)
}

function plain(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

function isRun(command: Command, wanted: readonly WantedCommand[], place: RunPlace): boolean {
  return readCommand(command, wanted, null, place).found.some(({ item }) => item.why === null)
}

/** Whether a summary in the output is the end of the command: it is one runner, or a task whose last command is one. */
function endsWithSummary(
  words: readonly string[],
  wanted: readonly WantedCommand[],
  place: RunPlace,
): boolean {
  const checks = readChecks(words, place)
  const check = checks.at(-1)
  if (check === undefined) {
    const file = strictScript(words, place) ?? ''
    const end = lasting.test(file) ? null : lastCommandOf(file)
    return end !== null && endsWithSummary(simpleCommand(end).words, wanted, place)
  }
  if (check.runner.startsWith('rake:')) return checks.length === 1 && /:(?:test|spec)$/.test(check.runner)
  // Of several targets the last one has the last word.
  if (!ownTasks.test(check.runner)) return checks.length === 1 || /^(?:gradle|mvn):/.test(check.runner)
  const script = taskScript(check, place)
  // The task may be one of a package.
  if (script === null && check.program === 'pnpm' && check.unknown.join() === '-r') return true
  if (script === null)
    return wanted.some(({ inside }) => {
      if (inside === undefined) return false
      const scoped = withoutScope(words, inside.directory, place) ?? words
      return endsWithSummary(scoped, [], insidePackage(place, inside.directory))
    })
  const last = lastCommandOf(script)
  const isTest = last !== null && kindOfCommand(simpleCommand(last).words.join(' ')) === 'test'
  return isTest || (checks.length === 1 && onlyCommandOf(script) !== null)
}

/** Whether it starts a known runner, which prints a summary whatever happens. */
function isKnownRunner(words: readonly string[], place: RunPlace, depth = 0): boolean {
  const check = readChecks(words, place).at(-1)
  if (depth > maxDepth) return false
  if (check !== undefined && Object.hasOwn(runnerOptions(), check.runner)) return true
  const script = check === undefined ? strictScript(words, place) : taskScript(check, place)
  const last = script === null ? null : lastCommandOf(script)
  return last !== null && isKnownRunner(simpleCommand(last).words, place, depth + 1)
}

/**
 * The first command of the call that is not a wanted one and may change files while the wanted ones run, and whether one that ends before
 * them or starts after them may.
 */
function meddlerIn(
  script: ParsedScript,
  wanted: readonly WantedCommand[],
  place: RunPlace,
  lasts: boolean,
): { readonly meddler: string | null; readonly earlier: boolean; readonly later: boolean } {
  const isWanted = (command: Command): boolean => isRun(command, wanted, place)
  const meddles = (command: Command, depth: number): boolean => {
    if (!mayChangeFiles(command) || isRun(command, wanted, place)) return false
    const outer = simpleCommand(command)
    const inner = depth > maxDepth ? null : innerScript(outer, unwrapPlain(outer), place)
    const parsed = inner === null || command.redirects.length > 0 ? null : parse(inner.source)
    if (parsed === null || hasErrors(parsed)) return true
    const own = new Set(clearedBefore(parsed, isWanted))
    return simpleCommandsIn(parsed).some((each) => !own.has(each) && meddles(each, depth + 1))
  }
  /** Also a task or a script that runs wanted commands. */
  const runsWanted = (command: Command, depth = 0): boolean => {
    if (isWanted(command)) return true
    const outer = simpleCommand(command)
    const inner = depth > maxDepth ? null : innerScript(outer, unwrapPlain(outer), place)
    const parsed = inner === null ? null : parse(inner.source)
    return (
      parsed !== null &&
      !hasErrors(parsed) &&
      simpleCommandsIn(parsed).some((each) => runsWanted(each, depth + 1))
    )
  }
  const after = new Set(startedAfter(script, isWanted))
  // What is put back after the run leaves no trace in the tree.
  const isLater = [...after].some((command) => meddles(command, 0))
  const before = isLater
    ? []
    : endedBefore(script, (command) => runsWanted(command)).filter((command) => !runsCode(command))
  const cleared = new Set(lasts ? before.filter(onlyMoves) : before)
  const found = simpleCommandsIn(script).filter((command) => !cleared.has(command) && meddles(command, 0))
  const meddler = found.find((command) => !after.has(command))
  return {
    meddler: meddler === undefined ? null : (meddler.name?.text ?? 'a redirection').slice(0, 40),
    earlier: found.length === 0 && before.some((command) => mayChangeFiles(command, () => false)),
    later: found.length > 0,
  }
}

/** The commands of `run && a && b` that start only when the runs have succeeded. */
function startedAfter(script: ParsedScript, isWanted: (command: Command) => boolean): readonly Command[] {
  const chain = script.commands.at(-1)
  if (chain?.command.type !== 'AndOr' || chain.background === true) return []
  const { commands, operators } = chain.command
  if (operators.some((operator) => operator !== '&&')) return []
  const last = commands.findLastIndex((node) => {
    const parts = node.type === 'Pipeline' ? node.commands : [node]
    return parts.some((part) => part.type === 'Command' && isWanted(part))
  })
  const rest = last === -1 ? [] : commands.slice(last + 1)
  return rest.flatMap((node) => simpleCommandsIn(node))
}

/** Of the commands before the first run, those that only make, move or remove files and print nothing. */
function clearedBefore(script: ParsedScript, isWanted: (command: Command) => boolean): readonly Command[] {
  return endedBefore(script, isWanted).filter(onlyMoves)
}

function onlyMoves(command: Command): boolean {
  const line = simpleCommand(command).words.join(' ')
  return (
    command.redirects.length === 0 &&
    /^(?:rm|rmdir|mkdir|touch|cp|mv|ln|chmod) |^find (?!.* -(?:exec|execdir|ok|okdir) (?!rm )|.* -f(?:print|ls))/.test(
      line,
    )
  )
}

/** Commands that end before the first run begins. What they change is there during the run, and still after the call. */
function endedBefore(script: ParsedScript, isWanted: (command: Command) => boolean): readonly Command[] {
  const at = script.commands.findIndex(({ command }) => simpleCommandsIn(command).some(isWanted))
  const first = script.commands[at]?.command
  if (first === undefined || script.commands.slice(0, at + 1).some(({ background }) => background === true))
    return []
  const links = first.type === 'AndOr' ? first.commands : []
  const earlier = links.slice(
    0,
    links.findIndex((node) => simpleCommandsIn(node).some(isWanted)),
  )
  return [...script.commands.slice(0, at).map(({ command }) => command), ...earlier].flatMap((node) =>
    simpleCommandsIn(node),
  )
}

function meddled(run: FoundRun, meddler: string): FoundRun {
  const text = `shares its call with \`${meddler}\`, which may change files while it runs; run it by itself`
  return run.why === null ? { ...run, why: { kind: 'changed', isMixed: true, text } } : run
}

function hasErrors({ errors }: ParsedScript): boolean {
  return errors !== undefined && errors.length > 0
}

function unreadable(script: string, declared: readonly DeclaredCommand[], place: RunPlace): FoundRuns {
  const why: RunDoubt = { kind: 'unreadable', text: 'is in a script that cannot be read as shell' }
  const runs = declared
    .filter(({ command }) => script.includes(command))
    .map((each) => ({ wanted: wantedCommand(each, place), why, limited: false }))
  return { runs, attributable: false }
}

/** PowerShell is not parsed, so the call must be exactly the command. */
function inPowerShell(script: string, declared: readonly DeclaredCommand[], place: RunPlace): FoundRuns {
  const found = declared.filter(({ command }) => plain(script).includes(plain(command)))
  const text = 'is in a PowerShell script with other words; only a call with nothing but the command counts'
  const runs = found.map((each): FoundRun => {
    if (isSame(each.command, script)) return wholeRun(wantedCommand(each, place), place)
    return { wanted: wantedCommand(each, place), why: { kind: 'unreadable', text }, limited: false }
  })
  return { runs, attributable: runs.length === 1 }
}
