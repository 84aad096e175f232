import { basename, join } from 'node:path'
import type { Evidence, EvidenceKind } from '../../core/evidence.ts'
import { version } from '../../core/version.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { isDirectory, isFile, isMissing } from '../../io/path-kind.ts'
import { readHead } from '../../io/read-head.ts'
import type { History, PlanFacts } from '../contract.ts'
import { editCount } from '../history/edits.ts'
import { isGreenRun } from '../history/gate.ts'
import { appendNote, type GuardLedger, openLedger } from '../ledger/open-ledger.ts'
import { latestHistory } from '../ledger/read-ledger.ts'
import { planCommandSource } from '../project/command-sources.ts'
import type { Settings } from '../settings/settings.ts'
import {
  ignoresItself,
  ignoreText,
  isUsual,
  maxViewBytes,
  mayReplace,
  stateDirectory,
  viewFiles,
  type WrittenView,
} from './state-directory.ts'

export interface ViewRequest {
  readonly directory: string
  readonly ledger: GuardLedger
  readonly settings: Settings
  /** false when this event cannot have changed the edit counts, which are most of the data with many files. */
  readonly mayCount: boolean
}

/** More writers than processes that append at once. After that many rounds the next event writes the views. */
const maxRounds = 100

/**
 * Writes `state.json` and `edit-tracker.json` without a lock. A writer that finds new ledger entries afterwards writes again, so the last
 * writer has seen everything. `ledger` is read to its end. Files that are not our views are not changed.
 */
export function writeViews({ directory, ledger, settings, mayCount }: ViewRequest): void {
  // The trace may have made it, or the older harness.
  const isNew =
    !isDirectory(directory) || (isUsual(directory) && isMissing(join(directory, viewFiles.ignore)))
  for (let round = 0; round < maxRounds; round += 1) {
    ledger.advance()
    writeIfNew(directory, viewFiles.state, stateView(ledger.history))
    // Another process may have appended edits meanwhile.
    if (mayCount || round > 0 || !isFile(join(directory, viewFiles.edits)))
      writeIfNew(directory, viewFiles.edits, editTrackerView(ledger.history, settings))
    if (!ledger.hasGrown()) break
  }
  if (isNew) writeFileAtomic(join(directory, viewFiles.ignore), ignoreText)
}

interface TickedPlan {
  readonly guardHome: string
  /** Real path of the project. */
  readonly root: string
  readonly settings: Settings
  readonly plan: PlanFacts
  readonly iteration: number
}

/** Records that Gantry ticked a task off, and updates the views of the last session, which no event of an agent will do. */
export function showTickedPlan({ guardHome, root, settings, plan, iteration }: TickedPlan): void {
  appendNote({ guardHome, root, note: { kind: 'ticked', plan, iteration }, nowMs: Date.now() })
  const where = stateDirectory(root, settings.state.dir)
  const session = latestHistory(guardHome, root).session.id
  if (where.kind === 'refused' || session === null) return
  const ledger = openLedger({ guardHome, root, session, edition: version })
  writeViews({ directory: where.path, ledger, settings, mayCount: true })
}

function writeIfNew(directory: string, name: WrittenView, view: object): void {
  const path = join(directory, name)
  const text = `${JSON.stringify(view, null, 2)}\n`
  const found = readHead(path, maxViewBytes)
  if (found.kind === 'text' && found.text === text) return
  // In a directory with our marker, every file with the name of a view is a view, whatever its content.
  if (mayReplace(name, found) || (found.kind === 'text' && ignoresItself(directory)))
    writeFileAtomic(path, text)
}

/** `edit-tracker.json` in its documented shape: edits by path, with every unusual character written as `_`. */
function editTrackerView({ edits }: History, { loopDetection }: Settings): Readonly<Record<string, number>> {
  const view: Record<string, number> = {}
  for (const [path, file] of Object.entries(edits.files)) {
    const count = editCount(file, loopDetection)
    if (count === 0) continue
    const key = path.replaceAll(unusual, '_')
    view[key] = (view[key] ?? 0) + count
  }
  return view
}

const unusual = /[^A-Za-z0-9._/-]/g

/** `state.json` in its documented shape: a view for people, derived each time and read by no rule. */
export function stateView(history: History) {
  const { session, tasks, evidence } = history
  const known = evidence.known ?? session.declared
  const commands = [...session.declared, ...known]
  // A command of no known kind, such as `sh test.sh`, was named as a check, so it counts as a test.
  const tests = ran(history, ['test', 'other'])
  const lint = ran(history, ['lint'])
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
    has_test_infra: commands.some(({ kind }) => kind === 'test' || kind === 'other'),
  }
}

function ran(history: History, kinds: readonly EvidenceKind[]): readonly Evidence[] {
  return Object.values(history.evidence.byCommand).filter(({ kind }) => kinds.includes(kind))
}

/** Evidence of another tree than the last known one, or from before the last edit of a file other than the plan, no longer passes. */
function allGreen(records: readonly Evidence[], { calls, edits }: History): boolean {
  const tree = calls.recent.findLast((call) => call.tree !== null)?.tree ?? null
  const edited =
    records.some(({ kind }) => kind !== 'lint') &&
    Object.entries(edits.files).some(
      ([path, { sinceGreen }]) => sinceGreen > 0 && basename(path) !== planCommandSource,
    )
  return (
    records.length > 0 &&
    !edited &&
    records.every((record) => isGreenRun(record) && (tree === null || record.treeHash === tree))
  )
}

function latestGreen(records: readonly Evidence[]): string | null {
  const ends = records
    .filter(isGreenRun)
    .map(({ startedAt, durationMs }) => Date.parse(startedAt) + durationMs)
    .filter((end) => !Number.isNaN(end))
  return ends.length === 0 ? null : new Date(Math.max(...ends)).toISOString()
}
