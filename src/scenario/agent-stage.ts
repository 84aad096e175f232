import { join } from 'node:path'
import type { AgentOutcome, AgentRequest } from '../agents/contract.ts'
import { GantryError } from '../core/error.ts'
import type { HarnessEvent, Untimed } from '../core/event.ts'
import type { WorkspaceDelta } from '../gates/contract.ts'
import { gateNeeds } from '../gates/index.ts'
import { monotonicMs, systemClock } from '../io/clock.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import { readShortText } from '../io/read-short-text.ts'
import { diffSnapshots, snapshotTree } from '../io/tree-snapshot.ts'
import { runLinkedAgent } from '../model-link/run-linked-agent.ts'
import { quoteWord } from '../shell/quote-word.ts'
import type { Case } from './case.ts'
import type { Recorder } from './recorder.ts'
import { runScript, type ScriptPlace } from './scripts.ts'
import { openTargetShim, type TargetShim } from './target-shim.ts'
import type { TrialEnvironment } from './trial-environment.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'
import { prepareWorkspace, restorePlaces, writeWorkspaceDiff } from './workspace.ts'

/** The result of the agent's work. Stored as a checkpoint, so that no answer is paid for twice. */
export type AgentStage =
  | { readonly kind: 'invalid'; readonly reason: string }
  | {
      readonly kind: 'ran'
      readonly outcome: AgentOutcome
      readonly durationMs: number
      /** Only when a gate or the judge needs it. */
      readonly delta: WorkspaceDelta | null
      /** Calls of the target were recorded. Absent in records of older versions. */
      readonly recordsCalls?: boolean
    }

/** From an empty directory to a finished agent: workspace, setup, health check, agent, and its changes. */
export async function agentStage(
  work: TrialWork,
  place: TrialPlace,
  env: TrialEnvironment,
  recorder: Recorder,
): Promise<AgentStage> {
  const overlay = work.agent.arm?.overlay ?? null
  await prepareWorkspace(work.case, place, { withOracle: work.withOracle, overlay })
  const setupPlace = { workspace: place.fixture, env: env.before, signal: work.signal }
  const problem = await prepareTarget(work.case, setupPlace, work.limits.timeoutMs / 1000, recorder.emit)
  stopIfInterrupted(work.signal)
  if (problem !== null) return { kind: 'invalid', reason: problem }
  const before = wantsDelta(work) ? snapshotTree(place.fixture) : null
  const started = monotonicMs()
  const startedAtMs = systemClock.now().getTime()
  const recording = openTargetShim(work.case, place, env.agent)
  const shim = recording.kind === 'ready' ? recording.shim : null
  if (recording.kind === 'impossible')
    recorder.emit({
      event: 'note',
      level: 'info',
      message: `calls of the target are not recorded: ${recording.reason}`,
    })
  const guard = await openGuard(work, place, env.agent, recorder)
  const agentEnv = { ...env.agent, ...guard?.env, ...shim?.env }
  const removeProfile = work.agent.home === 'host' ? () => {} : writeProfile(place, agentEnv.PATH ?? '')
  const outcome = await runAgent(work, place, agentEnv, recorder, shim, guard?.hooks).finally(() =>
    guard?.end(),
  )
  const durationMs = Math.round(monotonicMs() - started)
  for (const call of shim?.finish() ?? []) recorder.emit(call)
  const lost = restorePlaces(place)
  removeProfile()
  recorder.flush()
  stopIfInterrupted(work.signal)
  await writeWorkspaceDiff(work.case, place, startedAtMs, work.redaction.text, overlay)
  const delta =
    before === null ? null : diffSnapshots(before, snapshotTree(place.fixture, { against: before }))
  return {
    kind: 'ran',
    outcome: lost ? { ...outcome, warnings: [...(outcome.warnings ?? []), workspaceLost] } : outcome,
    durationMs,
    delta,
    recordsCalls: shim !== null,
  }
}

/** Loaded only for an arm with a guard. */
async function openGuard(work: TrialWork, place: TrialPlace, env: AgentRequest['env'], { emit }: Recorder) {
  if (work.agent.arm?.guard == null) return null
  const { guardTrial } = await import('./guard-trial.ts')
  const notice = (message: string): void => emit({ event: 'note', level: 'info', message })
  return guardTrial({ agent: work.agent, session: work.planned.id }, place, env, notice)
}

const workspaceLost = 'the agent removed its workspace, so an empty one was evaluated'

function wantsDelta({ case: { scenario, ownGates, rubric }, judge }: TrialWork): boolean {
  const { mode } = scenario.evaluation.judge ?? {}
  return (
    (rubric !== null && (judge !== null || mode === 'pairwise')) ||
    scenario.evaluation.gates.some((gate) => gateNeeds(gate.type, ownGates).includes('workspace_delta'))
  )
}

export function stopIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new GantryError('INTERRUPTED', 'the run was interrupted')
}

/**
 * Some agents run commands in a login shell, whose system-wide profile may replace PATH: without the tool, nothing can be tested.
 * Returns what removes the file, unless the agent made it its own.
 */
function writeProfile({ home }: TrialPlace, path: string): () => void {
  const file = join(home, '.profile')
  if (pathKind(file) !== null) return () => {}
  const text = `PATH=${quoteWord(path)}\nexport PATH\n`
  writeFileAtomic(file, text)
  return () => {
    if (readShortText(file, 2 * text.length) === text) removeTree(file)
  }
}

/** Runs the agent on the prompt of its case, through its model link when it has one. */
async function runAgent(
  work: TrialWork,
  place: TrialPlace,
  env: AgentRequest['env'],
  recorder: Recorder,
  shim: TargetShim | null,
  hooks: AgentRequest['hooks'],
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
    env,
    ...work.limits,
    prices: work.prices,
    redact: shim === null ? work.redaction.text : (text) => work.redaction.text(shim.hide(text)),
    signal: work.signal,
    emit: recorder.emit,
    transcript: recorder.transcript,
    ...(hooks !== undefined && { hooks }),
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
 * Setup commands, then the health check. All setup commands run even after one failed, so that the author sees every problem at
 * once. Resolves to null when the workspace is ready, else to the reason why the case is invalid.
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
    if (!success) problem ??= `setup command ${index + 1} failed (${how ?? `exit ${exit_code}`}): ${command}`
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
