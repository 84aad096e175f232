import { type CaseFacts, createFacts } from '../core/case-facts.ts'
import { GantryError } from '../core/error.ts'
import type { Store, StoredRun } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'
import { type RunRequest, runRequestSchema } from './request.ts'

/** The request a run was started with. */
export function frozenRequest(store: Store, idOrPrefix: string): RunRequest {
  return requestOf(openRun(store, findRun(store, idOrPrefix)))
}

/** What a run was asked to do, and its trials that did not pass: failed, broken, or never made. */
export async function failedTrials(
  store: Store,
  idOrPrefix: string,
): Promise<{ readonly request: RunRequest; readonly trials: NonNullable<RunRequest['only']> }> {
  const run = openRun(store, findRun(store, idOrPrefix, { kind: 'scenario' }))
  const request = requestOf(run)
  const planned = (run.plan()?.trials ?? []) as (NonNullable<RunRequest['only']>[number] & {
    readonly id: string
  })[]
  const passed = new Set<string>()
  for await (const record of run.trials()) if (record.verdict === 'pass') passed.add(record.id)
  const trials = planned
    .filter(({ id }) => !passed.has(id))
    .map(({ case: name, agent, model, attempt }) => ({ case: name, agent, model, attempt }))
  if (trials.length > 0) return { request, trials }
  throw new GantryError('USAGE', `every trial of ${run.id} passed`, {
    hint: 'There is nothing to run again.',
  })
}

function requestOf(run: StoredRun): RunRequest {
  const plan = run.plan()
  const parsed = runRequestSchema.safeParse(plan !== null && 'request' in plan ? plan.request : undefined)
  if (parsed.success) return parsed.data
  throw new GantryError(
    'USAGE',
    `${run.id} is no run of 'gantry test', or was stopped before it had a plan`,
    {
      hint: "'gantry runs list --kind scenario' shows those that are.",
    },
  )
}

/** The facts of the run that a new one is compared with: a run id, `latest`, or `blessed` for the newest blessed one. */
export async function loadBaseline(
  store: Store,
  name: string,
): Promise<{ readonly runId: string; readonly facts: CaseFacts[] }> {
  const run = openRun(store, findRun(store, name, { kind: 'scenario' }))
  const facts = createFacts()
  for await (const record of run.trials()) facts.add(record)
  return { runId: run.id, facts: facts.finish() }
}
