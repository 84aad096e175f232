import { type CaseFacts, createFacts } from '../core/case-facts.ts'
import type { Store } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'

/** The facts of the baseline run: a run id, `latest`, or `blessed` for the newest blessed one. */
export async function loadBaseline(
  store: Store,
  name: string,
): Promise<{ readonly runId: string; readonly facts: CaseFacts[] }> {
  const run = openRun(store, findRun(store, name, { kind: 'scenario' }))
  const facts = createFacts()
  for await (const record of run.trials()) facts.add(record)
  return { runId: run.id, facts: facts.finish() }
}
