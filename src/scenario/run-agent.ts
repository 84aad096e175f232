import type { AgentOutcome } from '../agents/contract.ts'
import { runLinkedAgent } from '../model-link/run-linked-agent.ts'
import type { Recorder } from './recorder.ts'
import type { TrialEnvironment } from './trial-environment.ts'
import type { TrialPlace } from './trial-place.ts'
import type { TrialWork } from './trial-work.ts'

/** Runs the agent on the prompt of its case, through its model link when it has one. */
export async function runAgent(
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
