import { posix } from 'node:path'
import { type Command, type PipelineNode, parse } from 'unbash'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { isHarmlessAssignment } from '../../shell/script-state.ts'
import { argOf } from '../../shell/shell-state.ts'
import { type SimpleCommand, simpleCommand } from '../../shell/simple-command.ts'
import { type PlainCommand, unwrapCommand, unwrapPlain } from '../../shell/unwrap-command.ts'
import type { DeclaredCommand } from '../contract.ts'
import { perhapsLess, rewrites, waysToRun, whyLess } from './coverage/covers.ts'
import { type Check, type CoveragePlace, inUsualBuild, readChecks } from './coverage/read-check.ts'
import type { ShownPart } from './coverage/shown-output.ts'
import type { ShownStatus } from './coverage/shown-status.ts'
import { lastCommandOf, taskScript } from './coverage/task-script.ts'
import { insidePackage, packageCheck, scopedCheck } from './package-checks.ts'

/** A declared command in a form that can be compared with a script. */
export interface WantedCommand {
  readonly declared: DeclaredCommand
  /** Keys of the parts between `&&`, one for most commands. Empty when the command cannot be compared. */
  readonly parts: readonly string[]
  /** The words of a single simple command. */
  readonly words: readonly string[] | null
  /** These words in sequence. */
  readonly text: string
  /** What a run must cover to count for it. Empty when only its own spelling counts. */
  readonly ways: readonly Check[]
  /** For `cd packages/a && npm test` and `npm test -w packages/a`: the command in that directory. */
  readonly inside?: { readonly directory: string; readonly wanted: WantedCommand }
}

/** A declared command found in a script. */
export interface FoundRun {
  readonly wanted: WantedCommand
  /** Why the end of the call does not show how the command ended; null when the call succeeds only if the command does. */
  readonly why: RunDoubt | null
  /** It runs with a time limit set by the shell. */
  readonly limited: boolean
  /** The exit code is hidden, but a green summary in the output would show how it ended, if nothing cut it. */
  readonly byOutput?: ShownPart
  /** The exit code is hidden, but the call prints it. */
  readonly byStatus?: ShownStatus
  /** Where it is in the script. */
  readonly at?: Command
  /** The call has started it; `in_turn`: if it ended with success. Absent when it may not have. */
  readonly starts?: 'at_once' | 'after_checks' | 'in_turn'
  /** A task there runs it: one that stops at the first failure, or another one. */
  readonly inTask?: 'strict' | 'loose'
}

export interface RunDoubt {
  /** `other`: another command ran. All others: the command ran, but its result is hidden or has another meaning. */
  readonly kind: 'masked' | 'background' | 'conditional' | 'changed' | 'directory' | 'unreadable' | 'other'
  readonly isHidden?: true
  /** Only another command in the call may have changed files. */
  readonly isMixed?: true
  /** A variable that is set for it may choose what runs. */
  readonly isSteered?: true
  /** It is only named, in words of another program. */
  readonly isMention?: true
  /** The directory is not known. */
  readonly isUnknown?: true
  /** All tests of the check ran, and only another part of it did not. */
  readonly isTests?: true
  /** A sentence without a full stop. Its subject is the command. */
  readonly text: string
}

/**
 * The whole check ran and may have passed, or all of its tests, and only the reading of the call does not show it. `isShown`: the output has
 * the green summary of tests. Not for runs of a part of the tests, nor for calls that set what chooses tests. Of a linter it does not matter
 * which part ran, nor whether it began.
 */
export function isUnclear({ why, starts, wanted: { declared } }: FoundRun, isShown: boolean): boolean {
  if (why === null || (starts === undefined && !isShown && declared.kind !== 'lint')) return false
  switch (why.kind) {
    case 'masked':
    case 'background':
      return why.isHidden !== true
    case 'changed':
      return why.isMixed === true || (isShown && why.isSteered !== true)
    case 'other':
      if (declared.kind === 'lint' || why.isTests === true || almostWhole.test(why.text)) return true
      if (why.text.endsWith(rewrites)) return true
      if (isShown && knownWhenRun.test(why.text)) return true
      return (why.text.endsWith(perhapsLess) || declared.kind === 'build') && !choosesPart.test(why.text)
    case 'directory':
      return isShown && why.isUnknown === true
    case 'conditional':
    case 'unreadable':
      return isShown
  }
}

/** `pytest "$@"`, `pytest "$f"`. */
const knownWhenRun = /ran only `[^`]*\$/
/** All tests but those in comments, or all without a build of its own. */
const almostWhole = /`(?:nextest|--all-targets|--tests|--no-build|--no-compile|--skip-build)\b/

/** Options that name a part, or that sound like leaving something out, and variables of make. */
const choosesPart =
  /`(?:\w+=|-[hvwpCFnk]\b|--?(?:help|version|workspace|filter(?![= ]\.\.\.)|scope|projects?|packages?|prefix|dir|directory|cwd|root|no|dry|list|show|skip|only|except|exclude|ignore|collect|select|grep|match|tests?|name|run|from|since|changed|related)\b|--no\w)/

export function wantedCommand(declared: DeclaredCommand, place: CoveragePlace): WantedCommand {
  const nodes = chainOf(declared.command)
  const parts = nodes?.map(partKey) ?? [null]
  const [only] = nodes?.length === 1 ? nodes : []
  const words = only?.type === 'Command' ? simpleCommand(only).words : null
  const there = packageCheck(declared.command) ?? (words === null ? null : scopedCheck(words, place))
  const inside = there === null ? null : insidePackage(place, there.directory)
  return {
    declared,
    parts: parts.every((part) => part !== null) ? parts : [],
    words,
    text: words?.join(' ') ?? '',
    ways:
      words === null || only?.type !== 'Command' || simpleCommand(only).assignments.length > 0
        ? []
        : waysToRun(words, place, !declared.explicit),
    ...(there !== null &&
      inside !== null && {
        inside: {
          directory: there.directory,
          wanted: wantedCommand({ ...declared, command: there.command }, inside),
        },
      }),
  }
}

/** Key of one part of a chain: a simple command or a pipeline of them; null for anything else. */
export function partKey(node: PipelineNode): string | null {
  if (node.type === 'Command') return commandKey(simpleCommand(node))
  if (node.type !== 'Pipeline' || node.prefixes.some(({ type }) => type === 'Negation')) return null
  const keys = node.commands.map((command) =>
    command.type === 'Command' ? commandKey(simpleCommand(command)) : null,
  )
  return keys.includes(null) ? null : keys.join('|')
}

/** The commands that a simple command runs, or only resembles. `inner` is the command without its wrappers. */
export function matchCommand(
  outer: SimpleCommand,
  { command: inner, limited }: PlainCommand,
  wanted: readonly WantedCommand[],
  doubt: RunDoubt | null,
  place: CoveragePlace,
): readonly FoundRun[] {
  const exact =
    place.below === undefined ? exactMatches(outer, inner, wanted, place) : new Set<WantedCommand>()
  const own = doubt ?? (inner.fed ? fed : null)
  const found: FoundRun[] = [...exact].map((each) => ({ wanted: each, why: own, limited }))
  if (exact.size === wanted.length) return found
  const rest = outer.words.slice(1).join(' ')
  const launched = unwrapPlain(outer, 'launched')
  const checks = readChecks(outer.words, place)
  const steering = steeringOf(launched.command, place)
  for (const each of wanted) {
    if (each.words === null || exact.has(each)) continue
    const less = whyNotCovered(
      each,
      each.declared.explicit
        ? ofItsProgram(each, checks, launched.command)
        : checks.map((check) => inUsualBuild(check, place)),
      place,
    )
    if (less !== undefined) {
      const why: RunDoubt | null = less === null ? (steering ?? own) : { kind: 'other', ...less }
      found.push({ wanted: each, why, limited: launched.limited })
      continue
    }
    const started = whyNotCovered(each, startedBy(outer.words, place), place)
    if (started === null) {
      const text = `was started by \`${posix.basename(outer.words[0] ?? '').slice(0, 40)}\`, ${perhapsLess}`
      const why = steeringOf(outer, place) ?? { kind: 'other', text }
      found.push({ wanted: each, why, limited: true })
      continue
    }
    const isSameProgram = each.words[0] === inner.words[0]
    const why = isSameProgram ? differenceOf(inner, each, place) : mentionOf(outer, rest, each)
    if (why !== null) found.push({ wanted: each, why, limited })
  }
  return found
}

/** Any run that does at least as much counts. */
function whyNotCovered(
  { ways }: WantedCommand,
  checks: readonly Check[],
  place: CoveragePlace,
): Pick<RunDoubt, 'text' | 'isTests'> | null | undefined {
  const whys = checks.flatMap((check) =>
    ways.flatMap((way) => {
      const text = whyLess(check, way, place)
      if (text == null) return text === undefined ? [] : [null]
      const { lacks = [], ...whole } = way
      const isPart = lacks.length > 0 && whyLess(check, whole, place) === null
      const isTests = isPart && kindOfCommand(way.words.join(' ')) === 'test'
      return [{ text, ...(isTests && { isTests }) }]
    }),
  )
  if (whys.includes(null) || areItsTasks(checks, ways, place)) return null
  return whys.find((why) => why?.isTests) ?? whys[0]
}

/** `make test-a test-b` for `test: test-a test-b`, and `make check` for `make test` if there is `check: test`. */
function areItsTasks(checks: readonly Check[], [own]: readonly Check[], place: CoveragePlace): boolean {
  const [check] = checks
  if (check === undefined || own === undefined) return false
  const scripts = checks.map((each) => taskScript(each, place))
  const script = taskScript(own, place)
  if (script === null || scripts.includes(null)) return false
  if (checks.length > 1) return scripts.join(' && ') === script
  const areTargets = [check, own].every(({ runner }) => runner.startsWith('make:'))
  const isInside = areTargets && linesOf(scripts[0] ?? '').includes(linesOf(script))
  return isInside && whyLess({ ...check, runner: own.runner }, own, place) === null
}

/** The commands of a task, each between two ends of a line, which none of them contains. */
function linesOf(script: string): string {
  return `\n${script.slice(1, -2).replaceAll('\n) && (', '\n\n')}\n`
}

/** For a declared command only runs of the program that it names: by a path of its own, or in an environment such as that of uv. */
function ofItsProgram(
  { ways: [way], words }: WantedCommand,
  checks: readonly Check[],
  run: SimpleCommand,
): readonly Check[] {
  if (way === undefined) return []
  const isBare =
    way.isModule ||
    words?.[0] === run.words[0] ||
    way.words[0] === words?.[way.launchers.length === 0 ? 0 : words.length - way.words.length]
  // A script of package.json finds the same programs.
  const [own, ...rest] = way.launchers
  const needed = rest.length === 0 && /^(?:npx|bunx|pnpx|pnpm|yarn)$/.test(own ?? '') ? [] : way.launchers
  const isInside = ({ launchers }: Check): boolean =>
    needed.length === 0 || needed.join('\0') === launchers.join('\0')
  return isBare ? checks.filter(isInside) : []
}

export function steeringOf({ assignments }: SimpleCommand, { free }: CoveragePlace): RunDoubt | null {
  const names = assignments.filter((each) => !isHarmlessAssignment(each.text, free)).map(({ name }) => name)
  if (names.length === 0) return null
  const text = `ran with ${names.join(', ')} set for it, which can change what it does`
  return { kind: 'changed', text, ...(names.some((name) => choosing.test(name)) && { isSteered: true }) }
}

/** Variables that hand options to a runner, or whose names say that something is left out. */
const choosing =
  /OPT(?:ION|IMIZE)?S?$|RUNNER$|FLAGS$|ARGS$|SKIP|ONLY|FILTER|SELECT|EXCLUDE|IGNORE|DISABLE|FAST|QUICK|SMOKE|SHORT|SUBSET|SHARD|MATCH|PATTERN|GREP|SUITE|MOCK|FAKE|STUB|DRY|CONFIG|^(?:PATH|SHELL|ENV|HOME|NODE_PATH|PYTHONPATH)$|^(?:BASH|LD|DYLD)_/

/** `docker compose exec -T app pytest`, `nohup pytest`, `fnm exec --using=22 -- npm test`: what a program that is not known well starts. */
function startedBy(words: readonly string[], place: CoveragePlace): readonly Check[] {
  if (notStarting.has(words[0] ?? '') || words.some((word) => /^--(?:help|version)$/.test(word))) return []
  const { layers, script: own } = unwrapCommand(words.map(argOf))
  const last = layers.length > 1 || own !== null ? [(layers.at(-1) ?? []).map(({ value }) => value)] : []
  const at = words.findIndex((word, index) => index > 0 && /^(?:exec|run|x|--|develop)$/.test(word))
  const ends =
    at === -1 ? [] : words.slice(at + 1, at + maxOptions).map((_, index) => words.slice(at + 1 + index))
  return [...last, ...ends].flatMap((end) => {
    const script = unwrapCommand(end.map(argOf)).script?.source
    const only = script === undefined ? null : lastCommandOf(script)
    return readChecks(only === null ? end : simpleCommand(only).words, place)
  })
}

const notStarting = new Set(
  'echo printf git gh grep rg cat find xargs watch npm pnpm yarn bun make pip pip3'.split(' '),
)
const maxOptions = 12

/** Variables that only change the look of the output are ignored, and so is which shell starts a script. */
function exactMatches(
  outer: SimpleCommand,
  inner: SimpleCommand,
  wanted: readonly WantedCommand[],
  { free }: CoveragePlace,
): ReadonlySet<WantedCommand> {
  const programs = new Set([inner.words, outer.words, byShell(inner.words)].map(([program]) => program))
  const candidates = wanted.filter(
    ({ parts, words }) => parts.length === 1 && words !== null && programs.has(byShell(words)[0]),
  )
  if (candidates.length === 0) return new Set()
  const steering = inner.assignments.filter(({ text }) => !isHarmlessAssignment(text, free))
  const runs = [outer, inner, { ...inner, assignments: steering }]
  const keys = new Set(
    [...runs, ...runs.map((run) => ({ ...run, words: byShell(run.words) }))].map(commandKey),
  )
  const isSame = ({ parts: [part], words }: WantedCommand): boolean =>
    part !== undefined &&
    (keys.has(part) || (words !== null && keys.has(commandKey({ assignments: [], words: byShell(words) }))))
  return new Set(candidates.filter(isSame))
}

/** `./test.sh`, `scripts/test.sh`, `bash -x test.sh` and `sh test.sh` in one form; other words as they are. */
function byShell(words: readonly string[]): readonly string[] {
  const [program = '', ...args] = words
  if (/^(?:\.\/|\w[\w.-]*\/)[\w./-]+\.sh$/.test(program)) return ['sh', program.replace(/^\.\//, ''), ...args]
  if (!/^(?:\/bin\/)?(?:ba|da|z)?sh$/.test(program)) return words
  const at = args.findIndex((arg) => !/^-[eux]+$/.test(arg))
  const [file = '', ...rest] = args.slice(Math.max(at, 0))
  return /^(?:\.\/)?[\w./-]+\.sh$/.test(file) ? ['sh', file.replace(/^\.\//, ''), ...rest] : words
}

const fed: RunDoubt = { kind: 'changed', text: 'was fed a here-document, which may change what it does' }

function differenceOf(
  command: SimpleCommand,
  { words: wanted, declared: { kind } }: WantedCommand,
  place: CoveragePlace,
): RunDoubt | null {
  const [run, words] = [command.words, wanted ?? []]
  const isSameStart = words.every((word, index) => run[index] === word)
  if (isSameStart && run.length === words.length) return steeringOf(command, place)
  if (isSameStart) {
    const more = run.slice(words.length).join(' ').replaceAll('\0', '').slice(0, 80)
    return { kind: 'other', text: `ran with more arguments (\`${more}\`), which is another command` }
  }
  const isSameKind = kind !== 'other' && kindOfCommand(run.join(' ')) === kind
  const shown = run.join(' ').replaceAll('\0', '').slice(0, 80)
  return isSameKind ? { kind: 'other', text: `was not run: \`${shown}\` is another command` } : null
}

function mentionOf(outer: SimpleCommand, rest: string, { text }: WantedCommand): RunDoubt | null {
  if (text === '' || !rest.includes(text)) return null
  const program = outer.words[0]?.replaceAll('\0', '').slice(0, 40)
  return {
    kind: 'other',
    isMention: true,
    text: `was only named: \`${program}\` ran, not the command itself`,
  }
}

function commandKey({ assignments, words }: Pick<SimpleCommand, 'assignments' | 'words'>): string {
  return JSON.stringify([...assignments.map(({ text }) => text), ...words])
}

/** The parts of `a && b`; null when the command has other operators. */
function chainOf(command: string): readonly PipelineNode[] | null {
  const { commands, errors } = parse(command)
  const [statement] = commands
  if (statement === undefined || commands.length > 1 || statement.background || errors !== undefined)
    return null
  const node = statement.command
  if (node.type !== 'AndOr') return [node]
  return node.operators.every((operator) => operator === '&&') ? node.commands : null
}
