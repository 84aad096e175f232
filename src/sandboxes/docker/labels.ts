import { isOwnerAlive, thisProcess } from '../../io/process-owner.ts'

export const runLabel = 'gantry.run'
export const ownerLabel = 'gantry.owner'

/** On everything that is made for a run, so that it can be found when its owner was killed. */
export function labelsFor(runId: string): Readonly<Record<string, string>> {
  const { pid, startTicks, host } = thisProcess()
  return { [runLabel]: runId, [ownerLabel]: JSON.stringify([pid, startTicks, host]) }
}

/** Whoever cannot be read is taken for alive. */
export function isOwnerDead(labels: Readonly<Record<string, string>> | null | undefined): boolean {
  try {
    const [pid, startTicks, host] = JSON.parse(labels?.[ownerLabel] ?? '') as unknown[]
    if (typeof pid !== 'number' || typeof host !== 'string') return false
    return !isOwnerAlive({ pid, startTicks: typeof startTicks === 'number' ? startTicks : null, host })
  } catch {
    return false
  }
}
