import type { AgentOutcome } from '../agents/contract.ts'
import { GantryError } from '../core/error.ts'
import type { HarnessEvent, Untimed } from '../core/event.ts'
import type { WorkspaceDelta } from '../gates/contract.ts'
import { gateNeeds } from '../gates/index.ts'
import { diffSnapshots, snapshotTree } from '../io/tree-snapshot.ts'
import { runLinkedAgent } from '../model-link/run-linked-agent.ts'
import type { Case } from './case.ts'
import type { Recorder } from './recorder.ts'
import { runScript, type ScriptPlace } from './scripts.ts'
import type { TrialEnvironment } from './trial-environment.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'
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
    scenario.evaluation.gates.some((gate) => gateNeeds(gate.type).includes('workspace_delta'))
  )
}

export function stopIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new GantryError('INTERRUPTED', 'the run was interrupted')
}

/** Runs the agent on the prompt of its case, through its model link when it has one. */
async function runAgent(
  work: TrialWork,
  place: TrialPlace,
  env: TrialEnvironment,
  recorder: Recorder,
): Promise<AgentOutcome> {
  const { planned, agent } = work
  return runLinkedAgent({
    driver: agent.driver,
    modelLink: work.modelLink,
    meter: agent.meter,
    prompt: work.case.scenario.task.prompt,
    workspace: place.fixture,
    places: { home: place.home, tmp: place.tmp },
    model: planned.model,
    env: env.agent,
    ...work.limits,
    prices: work.prices,
    redact: work.redaction.text,
    signal: work.signal,
    emit: recorder.emit,
    transcript: recorder.transcript,
    facts: {
      case: planned.case,
      agent: planned.agent,
      driver: agent.driver.name,
      version: agent.probe.version ?? 'unknown',
      model: planned.model,
    },
  })
}

/**
 * Set-up commands, then the health check. All set-up commands run even after one failed, so that the author sees every problem
 * at once. Resolves to null when the workspace is ready, else to the reason why the case is invalid.
 */
async function prepareTarget(
  { scenario, target }: Case,
  place: ScriptPlace,
  timeoutSecs: number,
  emit: (event: Untimed<HarnessEvent>) => void,
): Promise<string | null> {
  let problem: string | null = null
  for (const [index, command] of scenario.setup.commands.entries()) {
    const { exit_code, stdout, stderr, problem: how } = await runScript(command, timeoutSecs, place)
    const success = exit_code === 0
    emit({ event: 'setup_command', index, command, exit_code, output: stdout + stderr, success })
    if (!success) problem ??= `set-up command ${index + 1} failed (${how ?? `exit ${exit_code}`}): ${command}`
  }
  if (problem !== null || target.health_check === undefined) return problem
  const check = await runScript(target.health_check, timeoutSecs, place)
  const success = check.exit_code === 0
  emit({
    event: 'health_check',
    command: target.health_check,
    exit_code: check.exit_code,
    output: check.stdout + check.stderr,
    success,
  })
  return success
    ? null
    : `health check of ${target.binary} failed (${check.problem ?? `exit ${check.exit_code}`}): ${target.health_check}`
}
