import { basename } from 'node:path'
import type { Evidence, EvidenceKind } from '../../core/evidence.ts'
import type { History } from '../contract.ts'
import { planSource } from '../project/declaring-files.ts'

/** `state.json` in its documented shape: a view for people, derived anew each time and read by no rule. */
export interface StateView {
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
