import { cacheGet } from '../store/cache.ts'
import type { CachedRecord, Store } from '../store/contract.ts'
import type { ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'

/** null: not cached. A replay always runs, because it proves that the agent still behaves the same. */
export function cacheKeyOf(prepared: PreparedRun, spec: ScenarioTrial): string | null {
  const { request, project, cases } = prepared
  const entry = cases.get(spec.case)
  // The code of a value that a caller of the library passed in may have changed since.
  const isHashed =
    entry?.ownGates.every(({ fingerprint }) => fingerprint !== null) === true &&
    project.passedIn?.agents?.[spec.agent] === undefined
  const mayCache =
    request.cache && request.replay === 'off' && entry?.scenario.cost.cache === true && isHashed
  return mayCache ? prepared.keyOf(spec) : null
}

/**
 * The record that replaces a trial. Arms are taken from the cache only together, as one earlier run made them: whatever changed since then
 * must affect all of them alike.
 */
export function openCached(
  prepared: PreparedRun,
  store: Store,
): (trial: ScenarioTrial) => CachedRecord | null {
  const { planned, request } = prepared
  const hitOf = (trial: ScenarioTrial): CachedRecord | null => {
    const key = cacheKeyOf(prepared, trial)
    return key === null ? null : cacheGet(store, key)
  }
  if (request.arms.length < 2) return hitOf
  const pairOf = ({ case: name, attempt }: ScenarioTrial): string => JSON.stringify([name, attempt])
  const pairs = Map.groupBy(planned, pairOf)
  /** The run that made all trials of a pair, found when its first trial is looked for. */
  const makers = new Map<string, string | null>()
  const makerOf = (pair: readonly ScenarioTrial[]): string | null => {
    const [maker = null, ...others] = new Set(pair.map((each) => hitOf(each)?.runId ?? null))
    return others.length === 0 ? maker : null
  }
  return (trial) => {
    const pair = pairOf(trial)
    const maker = makers.has(pair) ? makers.get(pair) : makerOf(pairs.get(pair) ?? [])
    makers.set(pair, maker ?? null)
    const hit = maker == null ? null : hitOf(trial)
    return hit?.runId === maker ? hit : null
  }
}
