import { GantryError } from '../../core/error.ts'
import { nearest } from '../../core/nearest.ts'
import type { Store } from '../../store/contract.ts'
import { listRuns } from '../../store/list-runs.ts'
import { readEvaluationState } from './read-evaluation-state.ts'

/** The id of the latest evaluation of a plugin, by the plugin's name. */
export async function latestRunOf(store: Store, pluginName: string): Promise<string> {
  const { runs } = await listRuns(store, { kind: 'plugin' })
  const names = new Set<string>()
  for (const { id, dir } of runs) {
    const name = readEvaluationState(dir)?.plugin_name
    if (name === pluginName) return id
    if (name !== undefined) names.add(name)
  }
  const close = nearest(pluginName, [...names])
  throw new GantryError(
    'NOT_FOUND',
    `there is no evaluation of the plugin '${pluginName}' in ${store.root}`,
    {
      hint: close === undefined ? 'See "gantry plugin list".' : `Did you mean '${close}'?`,
    },
  )
}
