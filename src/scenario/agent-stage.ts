import type { AgentOutcome } from '../agents/contract.ts'
import { GantryError } from '../core/error.ts'
import type { WorkspaceDelta } from '../gates/contract.ts'
import { diffSnapshots, snapshotTree } from '../io/tree-snapshot.ts'
import type { Recorder } from './recorder.ts'
import { runAgent } from './run-agent.ts'
import { prepareTarget } from './setup.ts'
import type { TrialEnvironment } from './trial-environment.ts'
import type { TrialPlace } from './trial-place.ts'
import type { TrialWork } from './trial-work.ts'
import { prepareWorkspace, restorePlaces } from './workspace.ts'

/** What is known once the agent is gone. Kept as a checkpoint: nobody pays twice for the same answer. */
export type AgentStage =
  | { readonly kind: 'invalid'; readonly reason: string }
  | {
      readonly kind: 'ran'
      readonly outcome: AgentOutcome
      readonly durationMs: number
      /** Only when a gate or the judge asks for it. */
      readonly delta: WorkspaceDelta | null
    }

/** From an empty directory to a finished agent: workspace, set-up, health check, agent, and what it changed. */
export async function agentStage(
  work: TrialWork,
  place: TrialPlace,
  env: TrialEnvironment,
  recorder: Recorder,
): Promise<AgentStage> {
  await prepareWorkspace(work.case, place, { withOracle: work.withOracle })
  const setupPlace = { workspace: place.fixture, env: env.before, signal: work.signal }
  const problem = await prepareTarget(work.case, setupPlace, work.limits.timeoutMs / 1000, recorder.emit)
  stopIfInterrupted(work.signal)
  if (problem !== null) return { kind: 'invalid', reason: problem }
  const before = wantsDelta(work) ? snapshotTree(place.fixture) : null
  const started = performance.now()
  const outcome = await runAgent(work, place, env, recorder)
  const durationMs = Math.round(performance.now() - started)
  const lost = restorePlaces(place)
  recorder.flush()
  stopIfInterrupted(work.signal)
  const delta =
    before === null ? null : diffSnapshots(before, snapshotTree(place.fixture, { against: before }))
  return { kind: 'ran', outcome: lost ? withWarning(outcome, workspaceLost) : outcome, durationMs, delta }
}

const workspaceLost = 'the agent removed its workspace; it was judged by an empty one'

function withWarning(outcome: AgentOutcome, warning: string): AgentOutcome {
  return { ...outcome, warnings: [...(outcome.warnings ?? []), warning] }
}

function wantsDelta({ case: { scenario, rubric }, judge }: TrialWork): boolean {
  return (
    (judge !== null && rubric !== null) ||
    scenario.evaluation.gates.some((gate) => gate.type === 'workspace_delta')
  )
}

export function stopIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new GantryError('INTERRUPTED', 'the run was interrupted')
}
