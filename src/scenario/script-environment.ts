export interface ScriptFacts {
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
export function scriptEnvironment(facts: ScriptFacts): Record<string, string> {
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
