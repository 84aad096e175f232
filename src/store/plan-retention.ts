import type { KeepReason, RetentionCandidate, RetentionPlan, RetentionPolicy } from './contract.ts'

/**
 * Decides which runs go: those past the age first, then the oldest until so many remain. Exempt runs never go, and
 * they count among those that remain. `protectedIds` are exempt too: a run must not be cleaned away by its own end.
 */
export function planRetention(
  runs: readonly RetentionCandidate[],
  nowMs: number,
  policy: RetentionPolicy,
  protectedIds: ReadonlySet<string> = new Set(),
): RetentionPlan {
  const exempt = exemptions(runs, protectedIds)
  const oldestFirst = [...runs].sort((a, b) => a.startedAtMs - b.startedAtMs || compare(a.id, b.id))
  const remove: { id: string; reason: 'age' | 'count' }[] = []
  const { maxAgeMs, maxRuns } = policy
  const expired = (run: RetentionCandidate): boolean =>
    maxAgeMs !== null && nowMs - run.startedAtMs > maxAgeMs
  const removable = oldestFirst.filter((run) => !exempt.has(run.id))
  let surplus = maxRuns === null ? 0 : runs.length - removable.filter(expired).length - maxRuns
  for (const run of removable) {
    if (expired(run)) remove.push({ id: run.id, reason: 'age' })
    else if (surplus > 0) {
      remove.push({ id: run.id, reason: 'count' })
      surplus -= 1
    }
  }
  const gone = new Set(remove.map(({ id }) => id))
  const keep = oldestFirst
    .filter(({ id }) => !gone.has(id))
    .map(({ id }) => ({ id, reason: exempt.get(id) ?? ('recent' as const) }))
  return { remove, keep }
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
  // A kept run leans on others, which lean on others again: a Map grows while it is iterated, so this closes over all.
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

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
