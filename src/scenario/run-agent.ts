import type { AgentOutcome } from '../agents/contract.ts'
import { runBehind } from '../model-link/run-behind.ts'
import type { Recorder } from './recorder.ts'
import type { TrialEnvironment } from './trial-environment.ts'
import type { TrialPlace } from './trial-place.ts'
import type { TrialWork } from './trial-work.ts'

/** The agent at work on the prompt of its case, with whatever stands behind it. */
export async function runAgent(
  work: TrialWork,
  place: TrialPlace,
  env: TrialEnvironment,
  recorder: Recorder,
): Promise<AgentOutcome> {
  const { planned, agent } = work
  return runBehind({
    driver: agent.driver,
    behind: work.behind,
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
