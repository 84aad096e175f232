import type { KeepReason, RetentionCandidate, RetentionPlan, RetentionPolicy } from './contract.ts'

/**
 * Decides which runs to remove: first those over the age limit, then the oldest until `maxRuns` remain. Exempt runs are never removed,
 * and a run with a worth only by its age. Neither counts, so that it takes no room from others. `protectedIds` are exempt too: the end of a run must not remove the run itself.
 */
export function planRetention(
  runs: readonly RetentionCandidate[],
  nowMs: number,
  policy: RetentionPolicy,
  protectedIds: ReadonlySet<string> = new Set(),
): RetentionPlan {
  const exempt = exemptions(runs, protectedIds)
  const oldestFirst = [...runs].sort((a, b) => a.startedAtMs - b.startedAtMs || (a.id < b.id ? -1 : 1))
  const remove: { id: string; reason: 'age' | 'count' }[] = []
  const { maxAgeMs, maxRuns } = policy
  const expired = (run: RetentionCandidate): boolean =>
    maxAgeMs !== null && nowMs - run.startedAtMs > maxAgeMs
  const removable = oldestFirst.filter((run) => !exempt.has(run.id))
  const counted = removable.filter((run) => !expired(run) && run.worth === null)
  let surplus = maxRuns === null ? 0 : counted.length - maxRuns
  for (const run of removable) {
    if (expired(run)) remove.push({ id: run.id, reason: 'age' })
    else if (surplus > 0 && run.worth === null) {
      remove.push({ id: run.id, reason: 'count' })
      surplus -= 1
    }
  }
  const gone = new Set(remove.map(({ id }) => id))
  const kept = oldestFirst.filter(({ id }) => !gone.has(id))
  const byId = new Map(runs.map((run) => [run.id, run]))
  // What a kept run depends on stays with it: the list may grow while it is iterated.
  for (const { refersTo } of kept)
    for (const id of refersTo) {
      const referred = gone.delete(id) ? byId.get(id) : undefined
      if (referred === undefined) continue
      exempt.set(id, 'referenced')
      kept.push(referred)
    }
  const aboveLimit = maxRuns === null ? 0 : kept.length - maxRuns
  const keep = kept.map(({ id, worth }, index) => ({
    id,
    reason: exempt.get(id) ?? (index < aboveLimit ? worth : null) ?? ('recent' as const),
  }))
  return { remove: remove.filter(({ id }) => gone.has(id)), keep }
}

function exemptions(
  runs: readonly RetentionCandidate[],
  protectedIds: ReadonlySet<string>,
): Map<string, KeepReason> {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const exempt = new Map<string, KeepReason>()
  for (const run of runs) {
    const reason = ownReason(run, protectedIds)
    if (reason !== null) exempt.set(run.id, reason)
  }
  // Follows references transitively: a Map may grow while it is iterated.
  for (const [id, reason] of exempt) {
    if (reason === 'protected') continue
    for (const referred of byId.get(id)?.refersTo ?? []) {
      if (byId.has(referred) && !exempt.has(referred)) exempt.set(referred, 'referenced')
    }
  }
  return exempt
}

function ownReason(run: RetentionCandidate, protectedIds: ReadonlySet<string>): KeepReason | null {
  if (run.live) return 'live'
  if (protectedIds.has(run.id)) return 'protected'
  return run.flags[0] ?? (run.damaged ? 'damaged' : null)
}
