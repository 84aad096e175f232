import { basename, join } from 'node:path'
import type { Evidence, EvidenceKind } from '../../core/evidence.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { isDirectory, isFile } from '../../io/path-kind.ts'
import { readHead } from '../../io/read-head.ts'
import type { History } from '../contract.ts'
import { editCounts } from '../history/edits.ts'
import type { GuardLedger } from '../ledger/open-ledger.ts'
import { planSource } from '../project/declaring-files.ts'
import type { Settings } from '../settings/settings.ts'
import {
  ignoresItself,
  ignoreText,
  maxViewBytes,
  mayReplace,
  viewFiles,
  type WrittenView,
} from './state-directory.ts'

export interface ViewRequest {
  readonly directory: string
  readonly ledger: GuardLedger
  readonly settings: Settings
  /** false when this event cannot have changed how often files were edited: with many files that is most of what is to write. */
  readonly mayCount: boolean
}

/** More processes than this do not append at once; if they did, the next event would write the views anew. */
const maxRounds = 100

/**
 * Writes `state.json` and `edit-tracker.json` without a lock. Whoever finds afterwards that the ledger has grown writes again,
 * so that the last one to write has seen everything. `ledger` is read to its end. What is no view of ours stays as it is.
 */
export function writeViews({ directory, ledger, settings, mayCount }: ViewRequest): void {
  const isNew = !isDirectory(directory)
  for (let round = 0; round < maxRounds; round += 1) {
    ledger.advance()
    writeIfNew(directory, viewFiles.state, stateView(ledger.history))
    // Whoever else has appended meanwhile may have edited.
    if (mayCount || round > 0 || !isFile(join(directory, viewFiles.edits)))
      writeIfNew(directory, viewFiles.edits, editTrackerView(ledger.history, settings))
    if (!ledger.hasGrown()) break
  }
  if (isNew) writeFileAtomic(join(directory, viewFiles.ignore), ignoreText)
}

function writeIfNew(directory: string, name: WrittenView, view: object): void {
  const path = join(directory, name)
  const text = `${JSON.stringify(view, null, 2)}\n`
  const found = readHead(path, maxViewBytes)
  if (found.kind === 'text' && found.text === text) return
  // In a directory that bears our mark everything by the name of a view is one, whatever somebody wrote into it.
  if (mayReplace(name, found) || (found.kind === 'text' && ignoresItself(directory)))
    writeFileAtomic(path, text)
}

/** `edit-tracker.json` in its documented shape: edits by path, with every unusual character written as `_`. */
function editTrackerView({ edits }: History, { loopDetection }: Settings): Readonly<Record<string, number>> {
  const counts = editCounts(edits, loopDetection)
  // One look at all of them: most projects have only usual names, and then the view is what was counted.
  if (!unusual.test(Object.keys(counts).join(''))) return counts
  const view: Record<string, number> = {}
  for (const [path, count] of Object.entries(counts)) {
    const key = path.replaceAll(allUnusual, '_')
    view[key] = (view[key] ?? 0) + count
  }
  return view
}

const unusual = /[^A-Za-z0-9._/-]/
const allUnusual = /[^A-Za-z0-9._/-]/g

/** `state.json` in its documented shape: a view for people, derived anew each time and read by no rule. */
interface StateView {
  readonly session_id: string | null
  readonly started_at: string | null
  readonly phase: 'idle' | 'executing'
  readonly current_task: string | null
  readonly tasks_completed: number
  readonly tasks_remaining: number
  readonly iteration: number
  readonly verification_status: {
    readonly tests_run: boolean
    readonly tests_passed: boolean
    readonly lint_run: boolean
    readonly lint_passed: boolean
    readonly last_verified_at: string | null
  }
  readonly tdd_phase: 'red' | 'green' | 'refactor' | null
  readonly context_injected: boolean
  readonly last_compacted_at: string | null
  readonly discovered_verification_commands: readonly string[]
  readonly has_test_infra: boolean
}

export function stateView(history: History): StateView {
  const { session, tasks, evidence } = history
  const known = evidence.known ?? session.declared
  const commands = [...session.declared, ...known]
  const tests = ran(history, 'test')
  const lint = ran(history, 'lint')
  return {
    session_id: session.id,
    started_at: session.startedAt,
    phase: tasks.phase,
    current_task: tasks.current,
    tasks_completed: tasks.done,
    tasks_remaining: tasks.remaining,
    iteration: tasks.iteration,
    verification_status: {
      tests_run: tests.length > 0,
      tests_passed: allGreen(tests, history),
      lint_run: lint.length > 0,
      lint_passed: allGreen(lint, history),
      last_verified_at: latestGreen([...tests, ...lint]),
    },
    tdd_phase: tasks.tdd,
    context_injected: session.contextInjected,
    last_compacted_at: session.compactedAt,
    discovered_verification_commands: [...new Set(commands.map(({ command }) => command))],
    has_test_infra: commands.some(({ kind }) => kind === 'test'),
  }
}

function ran(history: History, kind: EvidenceKind): readonly Evidence[] {
  return Object.values(history.evidence.byCommand).filter((record) => record.kind === kind)
}

/** Evidence of another tree than the one last looked at, or from before the last edit of anything but the plan, passes nothing any more. */
function allGreen(records: readonly Evidence[], { calls, edits }: History): boolean {
  const tree = calls.recent.findLast((call) => call.tree !== null)?.tree ?? null
  const edited =
    records.some(({ kind }) => kind === 'test') &&
    Object.keys(edits.sinceGreen ?? {}).some((path) => basename(path) !== planSource)
  return (
    records.length > 0 &&
    !edited &&
    records.every((record) => isGreen(record) && (tree === null || record.treeHash === tree))
  )
}

function isGreen({ exitCode, executed, skipped = 0 }: Evidence): boolean {
  return exitCode === 0 && (executed === undefined || executed > skipped)
}

function latestGreen(records: readonly Evidence[]): string | null {
  const ends = records
    .filter(isGreen)
    .map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs)
    .filter((end) => !Number.isNaN(end))
  return ends.length === 0 ? null : new Date(Math.max(...ends)).toISOString()
}
