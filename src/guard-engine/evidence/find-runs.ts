import { posix } from 'node:path'
import { type AndOr, type Command, parse } from 'unbash'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { alternative, hiddenBy, unknownExit } from '../../shell/exit-status.ts'
import { bySource, movesShell, type ScriptState } from '../../shell/script-state.ts'
import { type SimpleCommand, simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'
import { unrollLoops } from '../../shell/unroll-loops.ts'
import { unwrapPlain } from '../../shell/unwrap-command.ts'
import { type CommandReading, type ScriptReader, walkScript } from '../../shell/walk-script.ts'
import type { DeclaredCommand } from '../contract.ts'
import { changesBesideRuns, clearedBefore, mayOutlast } from './changes-beside-runs.ts'
import { type CoveragePlace, readChecks } from './coverage/read-check.ts'
import { runnerOptions } from './coverage/runner-options.ts'
import { shownOutput } from './coverage/shown-output.ts'
import { shownStatuses } from './coverage/shown-status.ts'
import { lastCommandOf, onlyCommandOf, taskScript } from './coverage/task-script.ts'
import { hasErrors, innerScript, parsedInside, strictScript } from './inner-script.ts'
import {
  type FoundRun,
  matchCommand,
  partKey,
  type RunDoubt,
  type WantedCommand,
  wantedCommand,
} from './match-command.ts'
import { movedCommand } from './moved-command.ts'
import { insidePackage, withoutScope } from './package-checks.ts'
import { surelyStarts } from './surely-starts.ts'

export interface FoundRuns {
  readonly runs: readonly FoundRun[]
  /** If the call fails, this command failed, because nothing else in the call can fail. */
  readonly attributable: boolean
  /** Commands that start only after the runs succeeded may change files: the tree of the runs is the one before the call. */
  readonly changesLater?: true
  /** Only commands that ended before the runs began may change files: the tree of the runs is the one after the call. */
  readonly changesEarlier?: true
  /** The call starts a program that is not known, which may run tests. */
  readonly startsUnknown?: true
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
  const ownRoot = new RegExp(String.raw`${RegExp.escape(given.root)}(?![\w.-])`, 'g')
  const script = unrollLoops(
    written
      .replaceAll(namedByShell, '$1')
      .replaceAll(/\bPYTHONPATH=\S+/g, (set) => set.replaceAll(ownRoot, '.'))
      .replaceAll(keptStatus, '$2; $3=$?; echo')
      .replaceAll(printedLater, '{ $2\n} | cat')
      .replaceAll(namedRoot, 'cd "$$(git rev-parse --show-toplevel)$2"')
      .replaceAll(cargoParts, '$1$2')
      .replaceAll(mixParts, (_, parts: string) =>
        parts
          .split(/ *(?:,|\+) +/)
          .map((part) => `mix ${part}`)
          .join(' && '),
      ),
    (path) =>
      given.directory === null ? null : (given.list?.(posix.resolve(given.directory, path)) ?? null),
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
  const isWanted = (node: Command): boolean => isRun(node, wanted, place)
  const cleared = new Set(clearedBefore(parsed, isWanted))
  const ran = walked.found.flatMap(({ item }) => (item.why === null ? [item] : []))
  const tasks = new Set(ran.map(({ inTask, at }) => (inTask === 'strict' ? at : undefined)))
  const direct = new Set(
    ran.map(({ inTask, at, wanted: { declared } }) =>
      inTask === undefined && declared.kind === 'test' ? at : undefined,
    ),
  )
  const shows = shownOutput(parsed, {
    isRun: (node) =>
      (tasks.has(node) || direct.has(node) || isWanted(node)) &&
      endsWithSummary(simpleCommand(node).words, wanted, place),
    isTask: (node) => tasks.has(node),
    isRunner: (node) => isKnownRunner(simpleCommand(node).words, place),
    inside: (node) => parsedInside(node, place),
    isCleared: (node) => cleared.has(node),
    read: place.read,
    free: place.free,
    look: (path) => (directory === place.root ? lookAt(path, place) : null),
  })
  const statuses = shownStatuses(parsed.commands)
  const last = walked.found.findLast(({ item }) => item.why === null)
  const other = lastAlternative(parsed)
  const isEither = ({ item, doubt }: (typeof walked.found)[number]): boolean =>
    other !== null &&
    doubt?.text === hiddenBy(other).text &&
    walked.found.some(
      (each) =>
        each.item.at === other &&
        each.doubt === alternative &&
        each.item.why === null &&
        each.item.wanted === item.wanted,
    )
  const found = walked.found.map((each): FoundRun => {
    const { item } = each
    const doubt = isEither(each) ? null : each.doubt
    const isHidden = item.why === null && doubt !== null
    const byStatus = isHidden && item.at !== undefined ? statuses.get(item.at) : undefined
    const isShown = isHidden && doubt.kind === 'masked' && shows !== null
    // What one filter hides in a chain ran one after the other: the green end of the last one proves the earlier ones.
    const isChained = doubt === last?.doubt && (item.inTask === 'strict' || item.at !== last.item.at)
    const isOwn = isShown && item.inTask === undefined ? shows : null
    const byOutput = isShown && isChained ? { ...shows, isMixed: true, isEarlier: true as const } : isOwn
    const by = { ...(byOutput !== null && { byOutput }), ...(byStatus !== undefined && { byStatus }) }
    const starts = item.at === undefined ? null : surelyStarts(parsed, item.at)
    return { ...item, why: item.why ?? doubt, ...by, ...(starts !== null && { starts }) }
  })
  const { during, earlier, later } = changesBesideRuns(parsed, script, { isRun: isWanted, place })
  const runs = settled(during === null ? found : found.map((run) => sharing(run, during, later)))
  const counted = new Set(found.filter(({ why }) => why?.kind !== 'other').map((run) => run.wanted))
  return {
    runs,
    attributable: counted.size === 1 && !walked.hasOthers,
    ...(later && { changesLater: true }),
    ...(earlier && { changesEarlier: true }),
    ...(startsUnknown(parsed, place) && { startsUnknown: true }),
  }
}

/** `pytest || python3 -m pytest`: the command on the right, when the script is nothing but this chain. */
function lastAlternative({ commands: [statement, ...more] }: ReturnType<typeof parse>): Command | null {
  const chain = statement?.command
  if (chain?.type !== 'AndOr' || more.length > 0 || statement?.background === true) return null
  const isOnly = chain.operators.indexOf('||') === chain.operators.length - 1
  const last = chain.commands.at(-1)
  return isOnly && last?.type === 'Command' ? last : null
}

/**
 * `docker exec app …`, `script -qc …`, `concurrently npm:test`, a commit with its hooks: not a runner or task, nor a program that only prints
 * or works on files.
 */
function startsUnknown(parsed: Parameters<typeof simpleCommandsIn>[0], place: RunPlace): boolean {
  return simpleCommandsIn(parsed).some((node) => {
    const { words } = unwrapPlain(simpleCommand(node), 'launched').command
    const name = posix.basename(words[0] ?? '').replace(/[\d.]+$/, '')
    // Hooks of the repository, as husky and pre-commit set them up.
    if (name === 'git' && words.some((word) => word === 'commit' || word === 'push')) return true
    return name !== '' && !runsNoTests.has(name) && readChecks(words, place).length === 0
  })
}

/** Interpreters too: what a program of the agent's own prints shows nothing. */
const runsNoTests = new Set(
  '[ : alias awk base basename bash bat cat cd chmod chown column command cp curl cut dash date declare deno diff dirname echo egrep env eval exec exit export false fd fgrep find function git gh grep gunzip gzip head hash jq kill less let ln local ls lua mapfile mkdir mktemp more mv nl node nohup npm npx od patch perl php pip pnpm printf pwd python read readarray readlink realpath rev rg rm rmdir rsync ruby sed seq set setsid sh shopt sleep sort source sqlite stat strings sudo tac tail tar tee test time timeout touch tr trap true truncate tsx type typeset uniq unset unzip uv wait watch wc wget which xxd yarn yes zip zsh'.split(
    ' ',
  ),
)

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

/** `out=$(pytest); code=$?; echo "$out"`, whose status a later line prints. */
const keptStatus =
  /(?<![^\s;&])(\w+)="?\$\(([^()`$<\n]+)\)"?[ \t]*[;\n][ \t]*(\w+)=\$\?[ \t]*[;\n][ \t]*(?:echo|printf '%s\\n') "\$\{?\1\}?"/g
/** `ROOT=$(git rev-parse --show-toplevel); cd "$ROOT/api"`. */
const namedRoot =
  /(?<![^\s;&])(\w+)="?\$\(git rev-parse --show-toplevel\)"?[ \t]*(?:;|&&|\n)[ \t]*cd "?\$\{?\1\}?([\w./-]*)"?/g
/** `mix do format --check-formatted, test`. */
const mixParts = /\bmix do ((?:[\w.-]+(?: --?[\w-]+)*(?: *, +| \+ +|(?=$|[\n;|&]| [;|&2>])))+)/g
/** `$(which pytest)`, `$(go list ./...)`, and `out=$(pytest); echo "$out"`. */
const namedByShell = /\$\((?:which |command -v |go list (?=\.\/\.\.\.\)))([\w./-]+)\)/g
const printedLater =
  /(?<![^\s;&])(\w+)="?\$\(([^()`$<\n]+)\)"?[ \t]*(?:;|&&|\n)[ \t]*(?:echo|printf '%s\\n') "\$\{?\1\}?"/g

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
  const own = readSimple(outer, wanted, state, place)
  const plain = unwrapPlain(outer)
  const moved = movedCommand(plain.command.words)
  if (moved === null || own.found.some(({ item: { why } }) => why === null)) return own
  // `make -C api test` is `make test` in that directory.
  const from = state?.directory == null ? null : posix.resolve(state.directory, moved.directory)
  const there = readSimple(
    { ...plain.command, words: moved.words },
    wanted,
    state === null ? null : { ...state, directory: from },
    place,
  )
  if (!there.found.some(({ item: { why } }) => why?.kind !== 'directory') && there.script === undefined)
    return own
  const found = there.found.map((each) => ({
    ...each,
    item: { ...each.item, limited: each.item.limited || plain.limited },
  }))
  const { script, ...rest } = there
  // The commands of its task are read in the root.
  return {
    ...rest,
    found,
    ...(script !== undefined && from === place.root && state?.directory === from && { script }),
  }
}

function readSimple(
  outer: SimpleCommand,
  wanted: readonly WantedCommand[],
  state: ScriptState | null,
  place: RunPlace,
): CommandReading<FoundRun> {
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
  if (changed !== null) {
    const text = `may not be what it says, because ${changed}`
    return { kind: 'changed', text, ...(changed !== bySource && { isSteered: true }) }
  }
  if (directory === null)
    return {
      kind: 'directory',
      isUnknown: true,
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
  const rank = ({ why }: FoundRun): number => {
    if (why === null) return 3
    return why.kind === 'other' ? (why.isTests === true ? 1 : 0) : 2
  }
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
  const moved = movedCommand(words)
  if (moved !== null) return endsWithSummary(moved.words, wanted, place)
  const checks = readChecks(words, place)
  const check = checks.at(-1)
  if (check === undefined) {
    const file = strictScript(words, place) ?? ''
    const end = mayOutlast(file) ? null : lastCommandOf(file)
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

/** What changes files before a run and after it may have put them back: then not even its output shows on which files it ran. */
function sharing(run: FoundRun, other: string, isLater: boolean): FoundRun {
  const text = `shares its call with \`${other}\`, which may change files while it runs; run it by itself`
  const { byOutput, byStatus, ...rest } = run
  const isShown = run.why === null || (isLater && (byOutput !== undefined || byStatus !== undefined))
  return isShown ? { ...rest, why: { kind: 'changed', isMixed: true, text } } : run
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
