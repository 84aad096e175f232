import { type AndOr, type Command, type ParsedScript, parse } from 'unbash'
import { unknownExit } from '../../shell/exit-status.ts'
import { movesShell, type ScriptState } from '../../shell/script-state.ts'
import { simpleCommand, simpleCommandsIn } from '../../shell/simple-command.ts'
import { unwrapPlain } from '../../shell/unwrap-command.ts'
import { type CommandReading, type ScriptReader, walkScript } from '../../shell/walk-script.ts'
import type { DeclaredCommand } from '../contract.ts'
import {
  type FoundRun,
  matchCommand,
  partKey,
  type RunDoubt,
  type WantedCommand,
  wantedCommand,
} from './match-command.ts'
import { mayChangeFiles } from './may-change-files.ts'

export interface FoundRuns {
  readonly runs: readonly FoundRun[]
  /** When the call fails, the one command in it failed: nothing else in it can fail. */
  readonly attributable: boolean
}

export interface RunPlace {
  /** Real path of the project. */
  readonly root: string
  /** Where the call starts; may also be where it ended. null when unknown. */
  readonly directory: string | null
  /** What an earlier call did to the shell, for an agent that keeps one shell for all calls. */
  readonly changed?: string | null
  readonly language: 'bash' | 'powershell'
  /** The path without links. */
  real(path: string): string
}

const none: FoundRuns = { runs: [], attributable: false }
const maxScriptChars = 200_000

/** Which declared commands a shell call runs, and whether its end would prove anything about each of them. */
export function findRuns(script: string, declared: readonly DeclaredCommand[], place: RunPlace): FoundRuns {
  const named = declared.filter(({ command }) => script.includes(command.trim().split(/\s+/)[0] ?? command))
  if (named.length === 0 || script.trim() === '') return none
  if (place.language === 'powershell') return inPowerShell(script, named, place)
  const parsed = script.length > maxScriptChars ? null : parse(script)
  if (parsed === null || hasErrors(parsed)) return unreadable(script, named)
  const wanted = named.map(wantedCommand)
  const whole = wanted.filter(
    ({ parts, declared: { command } }) => parts.length === 0 && isSame(command, script),
  )
  if (whole.length > 0) return { runs: whole.map((each) => wholeRun(each, place)), attributable: true }
  const moves = simpleCommandsIn(parsed).some((command) => movesShell(simpleCommand(command)))
  // A shell that changes directory reports one directory for two: only an absolute `cd` before the run settles where it ran.
  const start = { directory: moves ? null : place.directory, pipefail: false, changed: place.changed ?? null }
  const walked = walkScript(parsed, start, runReader(wanted, place))
  const found = walked.found.map(({ item, doubt }) => ({ ...item, why: item.why ?? doubt }))
  const meddler = meddlerIn(parsed, wanted)
  const runs = settled(meddler === null ? found : found.map((run) => meddled(run, meddler)))
  const counted = new Set(found.filter(({ why }) => why?.kind !== 'other').map((run) => run.wanted))
  return { runs, attributable: counted.size === 1 && !walked.hasOthers }
}

/** Finds runs of the wanted commands: as simple commands, as pipelines and as chains. */
function runReader(wanted: readonly WantedCommand[], place: RunPlace): ScriptReader<FoundRun> {
  return {
    substitutions: false,
    command: (node, state) => readCommand(node, wanted, doubtOf(state, place)),
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
  doubt: RunDoubt | null,
): CommandReading<FoundRun> {
  const outer = simpleCommand(node)
  const plain = unwrapPlain(outer)
  const found = matchCommand(outer, plain, wanted, doubt)
  const ran = found.some(({ why }) => why?.kind !== 'other')
  const { script, command, limited } = plain
  if (!ran && script !== null && !limited && command.assignments.length === 0) {
    const parsed = parse(script.source)
    if (!hasErrors(parsed))
      return { found: [], isOther: true, script: { parsed, pipefail: script.pipefail, exit: unknownExit } }
  }
  const isOther = !ran && !harmless.has(command.words[0] ?? '')
  return { found: found.map((item) => ({ item, doubt: null, exit: unknownExit })), isOther }
}

/** Builtins that succeed whatever the project is like. */
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

function doubtOf({ changed, directory }: ScriptState, place: RunPlace): RunDoubt | null {
  if (changed !== null) return { kind: 'changed', text: `may not be what it says, because ${changed}` }
  if (directory === null)
    return {
      kind: 'directory',
      text: 'ran in an unknown directory; only `cd` with the full path of the root before it is understood',
    }
  return place.real(directory) === place.root ? null : elsewhere
}

const openPipe: RunDoubt = { kind: 'masked', text: 'is a pipe without `set -o pipefail` before it' }

/** Each command once: a run that counts comes before one that does not, a doubt before a mere mention. */
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

/** The first command of the call that is not a wanted one and may change files while those run. */
function meddlerIn(script: ParsedScript, wanted: readonly WantedCommand[]): string | null {
  const isRun = (command: Command): boolean => {
    const outer = simpleCommand(command)
    return matchCommand(outer, unwrapPlain(outer), wanted, null).some(({ why }) => why === null)
  }
  const meddler = simpleCommandsIn(script).find((command) => mayChangeFiles(command) && !isRun(command))
  return meddler === undefined ? null : (meddler.name?.text ?? 'a redirection').slice(0, 40)
}

function meddled(run: FoundRun, meddler: string): FoundRun {
  const text = `shares its call with \`${meddler}\`, which may change files while it runs; run it by itself`
  return run.why === null ? { ...run, why: { kind: 'changed', text } } : run
}

function hasErrors({ errors }: ParsedScript): boolean {
  return errors !== undefined && errors.length > 0
}

function unreadable(script: string, declared: readonly DeclaredCommand[]): FoundRuns {
  const why: RunDoubt = { kind: 'unreadable', text: 'is in a script that cannot be read as shell' }
  const runs = declared
    .filter(({ command }) => script.includes(command))
    .map((each) => ({ wanted: wantedCommand(each), why, limited: false }))
  return { runs, attributable: false }
}

/** PowerShell is not parsed: the call must be the command, letter by letter. */
function inPowerShell(script: string, declared: readonly DeclaredCommand[], place: RunPlace): FoundRuns {
  const found = declared.filter(({ command }) => plain(script).includes(plain(command)))
  const text = 'is in a PowerShell script with other words; only a call with nothing but the command counts'
  const runs = found.map((each): FoundRun => {
    if (isSame(each.command, script)) return wholeRun(wantedCommand(each), place)
    return { wanted: wantedCommand(each), why: { kind: 'unreadable', text }, limited: false }
  })
  return { runs, attributable: runs.length === 1 }
}
