import { delimiter, dirname } from 'node:path'
import { agentVariables } from '../config/agent-variables.ts'
import { expandVariables } from '../core/expand.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'

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
      ...agentVariables(agent, host, modelLink !== null),
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

interface ScriptFacts {
  readonly fixtureDir: string
  readonly resultsDir: string
  readonly scenario: string
  readonly agent: string
  readonly model: string
  /** Both are there once the agent ran. */
  readonly transcript?: string
  readonly events?: string
}

/** The variables every script, gate command and `${…}` reference can use, under both prefixes. */
function scriptEnvironment(facts: ScriptFacts): Record<string, string> {
  const variables: Record<string, string | undefined> = {
    FIXTURE_DIR: facts.fixtureDir,
    RESULTS_DIR: facts.resultsDir,
    SCENARIO: facts.scenario,
    AGENT: facts.agent,
    MODEL: facts.model,
    TRANSCRIPT: facts.transcript,
    EVENTS: facts.events,
  }
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) continue
    environment[`LLM_TOOL_TEST_${name}`] = value
    environment[`GANTRY_${name}`] = value
  }
  return environment
}

/** Names that `${…}` in `target.env` may use although the caller's environment lacks them. */
export const scriptVariables: readonly string[] = Object.keys(
  scriptEnvironment({
    fixtureDir: '',
    resultsDir: '',
    scenario: '',
    agent: '',
    model: '',
    transcript: '',
    events: '',
  }),
)
