import { type Command, type ParsedScript, parse } from 'unbash'
import type { DeclaredCommand } from '../contract.ts'
import { findInCommand } from './find-in-command.ts'
import type { FoundRun, RunDoubt } from './found-run.ts'
import { mayChangeFiles } from './may-change-files.ts'
import { movesShell } from './shell-state.ts'
import { shellUnit } from './shell-unit.ts'
import { type Sought, soughtCommand } from './sought-command.ts'
import { commandsIn, walkScript } from './walk-shell.ts'

export interface FoundRuns {
  readonly runs: readonly FoundRun[]
  /** When the call fails, it is the one command that failed: nothing else in it can. */
  readonly attributable: boolean
}

export interface RunPlace {
  /** Real path of the project. */
  readonly root: string
  /** Where the call starts; may also be where it ended. null when nobody knows. */
  readonly directory: string | null
  /** What an earlier call did to the shell, where the agent keeps one shell for all calls. */
  readonly changed?: string | null
  readonly language: 'bash' | 'powershell'
  /** Without links. */
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
  const sought = named.map(soughtCommand)
  const whole = sought.filter(
    ({ parts, declared: { command } }) => parts.length === 0 && isSame(command, script),
  )
  if (whole.length > 0) return { runs: whole.map((each) => wholeRun(each, place)), attributable: true }
  const moves = commandsIn(parsed).some((command) => movesShell(shellUnit(command)))
  const walked = walkScript(parsed, {
    sought,
    isRoot: (directory) => place.real(directory) === place.root,
    // A shell that moves tells one directory for two: only an absolute `cd` before the run settles where it ran.
    start: { directory: moves ? null : place.directory, pipefail: false, changed: place.changed ?? null },
  })
  const meddler = meddlerIn(parsed, sought)
  const runs = settled(meddler === null ? walked.found : walked.found.map((run) => meddled(run, meddler)))
  const counted = new Set(walked.found.filter(({ why }) => why?.kind !== 'other').map(({ sought }) => sought))
  return { runs, attributable: counted.size === 1 && !walked.hasOthers }
}

/** Each command once: a run that counts beats one that does not, a real doubt beats a mere mention. */
function settled(found: readonly FoundRun[]): readonly FoundRun[] {
  const rank = ({ why }: FoundRun): number => (why === null ? 2 : why.kind === 'other' ? 0 : 1)
  const best = new Map<Sought, FoundRun>()
  for (const run of found) {
    const before = best.get(run.sought)
    if (before === undefined || rank(run) > rank(before)) best.set(run.sought, run)
  }
  return [...best.values()]
}

/** More than a chain of commands: only the declared text itself is a run of it. */
function wholeRun(sought: Sought, place: RunPlace): FoundRun {
  const isHere = place.directory !== null && place.real(place.directory) === place.root
  return { sought, why: isHere ? null : elsewhere, limited: false }
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

/** The first command of the call that is none of the sought ones and may change files under their feet. */
function meddlerIn(script: ParsedScript, sought: readonly Sought[]): string | null {
  const isRun = (command: Command): boolean => {
    const { found } = findInCommand(shellUnit(command), sought, null)
    return found.some(({ why }) => why === null)
  }
  const meddler = commandsIn(script).find((command) => mayChangeFiles(command) && !isRun(command))
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
  const why: RunDoubt = { kind: 'unreadable', text: 'stands in a script that cannot be read as shell' }
  const runs = declared
    .filter(({ command }) => script.includes(command))
    .map((each) => ({ sought: soughtCommand(each), why, limited: false }))
  return { runs, attributable: false }
}

/** PowerShell is not parsed: the command alone, letter by letter, or nothing. */
function inPowerShell(script: string, declared: readonly DeclaredCommand[], place: RunPlace): FoundRuns {
  const found = declared.filter(({ command }) => plain(script).includes(plain(command)))
  const text =
    'stands in a PowerShell script with other words; only a call with nothing but the command counts'
  const runs = found.map((each): FoundRun => {
    if (isSame(each.command, script)) return wholeRun(soughtCommand(each), place)
    return { sought: soughtCommand(each), why: { kind: 'unreadable', text }, limited: false }
  })
  return { runs, attributable: runs.length === 1 }
}
