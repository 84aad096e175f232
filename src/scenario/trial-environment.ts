import { delimiter, dirname } from 'node:path'
import { ownVariables } from '../config/own-variables.ts'
import { expandVariables } from '../core/expand.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'
import { scriptEnvironment } from './script-environment.ts'
import type { TrialPlace } from './trial-place.ts'
import type { TrialWork } from './trial-work.ts'

type EnvironmentFacts = Pick<TrialWork, 'planned' | 'case' | 'agent' | 'modelLink' | 'env'>

export interface TrialEnvironment {
  /** What the agent sees. */
  readonly agent: Readonly<Record<string, string>>
  /** What set-up commands and the health check see. */
  readonly before: Readonly<Record<string, string>>
  /** What post scripts, gates and evaluators see: the transcript and the events are there now. */
  readonly after: Readonly<Record<string, string>>
}

/** The environments of one trial. The agent and the checks share HOME: many tools keep their data there. */
export function trialEnvironment(
  { planned, case: { target, targetProgram }, agent, modelLink, env: host }: EnvironmentFacts,
  place: TrialPlace,
): TrialEnvironment {
  const base = hermeticEnv({
    host,
    home: agent.home === 'host' && host.HOME !== undefined ? host.HOME : place.home,
    tmp: place.tmp,
    // A repository around the store is none of the trial's business.
    extra: { GIT_CEILING_DIRECTORIES: place.dir },
  })
  const facts = {
    fixtureDir: place.fixture,
    resultsDir: place.dir,
    scenario: planned.case,
    agent: planned.agent,
    model: planned.model,
  }
  const before = scriptEnvironment(facts)
  const after = scriptEnvironment({ ...facts, transcript: place.transcript, events: place.events })
  const tool = withTool(expandTarget(target.env, { ...host, ...after }), targetProgram, base.PATH ?? '')
  return {
    agent: {
      ...base,
      ...ownVariables(agent, host, modelLink !== null),
      ...tool,
      GANTRY_SCENARIO: planned.case,
      GANTRY_ATTEMPT: String(planned.attempt),
    },
    before: { ...base, ...before, ...tool },
    after: { ...base, ...after, ...tool },
  }
}

function expandTarget(
  values: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, expandVariables(value, variables).text]),
  )
}

/** A tool that is a file outside the workspace is found by its name: its directory comes first on PATH. */
function withTool(env: Record<string, string>, program: string | null, path: string): Record<string, string> {
  return program === null ? env : { ...env, PATH: `${dirname(program)}${delimiter}${env.PATH ?? path}` }
}
