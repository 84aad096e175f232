import { delimiter, dirname } from 'node:path'
import { agentVariables } from '../config/agent-variables.ts'
import { expandValues } from '../core/expand.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'
import { trialSeed } from './plan.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'

type EnvironmentFacts = Pick<TrialWork, 'planned' | 'case' | 'agent' | 'modelLink' | 'env' | 'seed'>

export interface TrialEnvironment {
  /** For the agent. */
  readonly agent: Readonly<Record<string, string>>
  /** For setup commands and the health check. */
  readonly before: Readonly<Record<string, string>>
  /** For post scripts, gates and evaluators, with transcript and events. */
  readonly after: Readonly<Record<string, string>>
}

/** The environments of one trial. The agent and the checks share HOME: many tools keep their data there. */
export function trialEnvironment(
  { planned, case: { target, targetProgram }, agent, modelLink, env: host, seed = 1 }: EnvironmentFacts,
  place: TrialPlace,
): TrialEnvironment {
  const base = hermeticEnv({
    host,
    home: agent.home === 'host' && host.HOME !== undefined ? host.HOME : place.home,
    tmp: place.tmp,
    // Git must not find a repository above the workspace.
    extra: { GIT_CEILING_DIRECTORIES: place.dir },
  })
  const before = scriptEnvironment({
    FIXTURE_DIR: place.fixture,
    RESULTS_DIR: place.dir,
    SCENARIO: planned.case,
    AGENT: planned.agent,
    MODEL: planned.model,
  })
  const after = { ...before, ...scriptEnvironment({ TRANSCRIPT: place.transcript, EVENTS: place.events }) }
  const tool = withTool(expandValues(target.env, { ...host, ...after }), targetProgram, base.PATH ?? '')
  return {
    agent: {
      ...base,
      ...agentVariables(agent, host, modelLink !== null),
      ...tool,
      GANTRY_SCENARIO: planned.case,
      GANTRY_ATTEMPT: String(planned.attempt),
      GANTRY_SEED: String(trialSeed(seed, planned)),
    },
    before: { ...base, ...before, ...tool },
    after: { ...base, ...after, ...tool },
  }
}

/** A tool outside the workspace is found by its name: its directory comes first on PATH. */
function withTool(env: Record<string, string>, program: string | null, path: string): Record<string, string> {
  return program === null ? env : { ...env, PATH: `${dirname(program)}${delimiter}${env.PATH ?? path}` }
}

const scriptNames = [
  'FIXTURE_DIR',
  'RESULTS_DIR',
  'SCENARIO',
  'AGENT',
  'MODEL',
  'TRANSCRIPT',
  'EVENTS',
] as const

const prefixes = ['LLM_TOOL_TEST_', 'GANTRY_']

/** The variables every script, gate command and `${…}` reference can use, under both prefixes. */
function scriptEnvironment(values: Partial<Record<(typeof scriptNames)[number], string>>) {
  const entries = Object.entries(values)
  return Object.fromEntries(
    prefixes.flatMap((prefix) => entries.map(([name, value]) => [prefix + name, value])),
  )
}

/** Names that `${…}` in `target.env` may use although the caller's environment does not have them. */
export const scriptVariables: readonly string[] = prefixes.flatMap((prefix) =>
  scriptNames.map((name) => prefix + name),
)
