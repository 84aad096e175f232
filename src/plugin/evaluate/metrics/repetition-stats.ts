import type { RepetitionStats } from './evaluation-summary.ts'
import type { ScenarioTally } from './scenario-tally.ts'

/** How far repeating a scenario gives the same verdict; null when nothing was repeated. */
export function repetitionStats(tallies: readonly ScenarioTally[]): RepetitionStats | null {
  const repeated = tallies.filter(({ asked }) => asked > 1)
  if (repeated.length === 0) return null
  const flaky = repeated.filter(({ passed, asked }) => passed > 0 && passed < asked)
  return {
    reps_per_scenario: repeated.reduce((most, { asked }) => Math.max(most, asked), 1),
    consistency_rate: 1 - flaky.length / repeated.length,
    flaky_scenarios: flaky.map(({ scenario_id, passed, asked }) => ({ scenario_id, passed, trials: asked })),
  }
}
