import type { Attempt } from './attempt.ts'
import { buildExecution, type EarlierTries } from './build-execution.ts'
import type { ExecuteRequest } from './request.ts'
import type { Tally } from './tally.ts'
import type { GroupedTrial } from './trial-groups.ts'

/** Hands a trial that was made to whoever keeps it, and tells so. */
export async function keepTrial(
  grouped: GroupedTrial,
  attempt: Attempt,
  earlier: EarlierTries,
  { request, tally }: { readonly request: ExecuteRequest; readonly tally: Tally },
): Promise<void> {
  const { trial, scenario } = grouped
  const { execution, transcript } = buildExecution(grouped, attempt, earlier, request)
  await request.keep(execution, transcript)
  tally.kept(execution)
  const { invalid, failure } = execution
  const message = invalid ?? failure?.message
  request.onStep({
    kind: 'scenario_complete',
    trial: trial.id,
    scenario: scenario.id,
    arm: trial.arm,
    rep: trial.rep,
    outcome: invalid !== undefined ? 'invalid' : failure !== undefined ? 'infra' : 'done',
    cost_usd: execution.cost_usd,
    duration_ms: execution.duration_ms,
    ...(message !== undefined && { message }),
  })
}
