import { join } from 'node:path'
import type { Store } from '../../store/contract.ts'
import { readManifestState } from '../../store/manifest.ts'
import { openRun } from '../../store/open-run.ts'
import { runIds } from '../../store/run-id.ts'
import type { PreparedPlan } from './prepare-plan.ts'

export type PlanEstimate = Awaited<ReturnType<typeof estimatePlan>>

const maxRuns = 20

/** The estimated cost of the open tasks, from the cost per finished task of earlier runs with the same agent and model. */
export async function estimatePlan({ request, tasks }: PreparedPlan, store: Store) {
  const open = tasks.filter(({ done }) => !done).length
  let finished = 0
  let durationMs = 0
  let costUsd: number | null = 0
  for (const { id } of planRuns(store)) {
    for await (const record of openRun(store, id).trials()) {
      if (record.agent !== request.agent || record.model !== request.model) continue
      if (record.verdict === 'pass') finished += 1
      durationMs += record.durationMs
      costUsd = costUsd === null || record.costUsd === null ? null : costUsd + record.costUsd
    }
  }
  if (finished === 0) return { open, learnedFrom: 0, costUsd: null, durationMs: null }
  const perTask = open / finished
  return {
    open,
    /** Number of tasks the estimate is based on. */
    learnedFrom: finished,
    /** null when no earlier run has a known cost. */
    costUsd: costUsd === null ? null : costUsd * perTask,
    durationMs: Math.round(durationMs * perTask),
  }
}

function planRuns(store: Store): readonly { readonly id: string }[] {
  const isPlan = ({ id }: { readonly id: string }): boolean => {
    const state = readManifestState(join(store.runsDir, id))
    return state.kind === 'whole' && state.manifest.kind === 'plan'
  }
  return runIds(store).filter(isPlan).slice(0, maxRuns)
}
