import type { Store, TrialRow } from './contract.ts'
import type { TrialFilter } from './index-database.ts'

/** Earlier trials of a case over all stored runs, newest first. Right whatever state the index is in. */
export async function trialHistory(store: Store, filter: TrialFilter): Promise<TrialRow[]> {
  const { withIndex } = await import('./index-database.ts')
  const { refreshIndex } = await import('./refresh-index.ts')
  return withIndex(store, (index) => {
    refreshIndex(store, index)
    return index.history(filter)
  })
}
