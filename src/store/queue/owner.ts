import { isOwnerAlive, type ProcessOwner } from '../../io/process-owner.ts'

export function ownerText({ pid, startTicks, host }: ProcessOwner): string {
  return JSON.stringify([pid, startTicks, host])
}

/** Whether the holder of a claim is dead. True for a released claim too. */
export function isAbandoned(text: unknown): boolean {
  if (typeof text !== 'string') return true
  const [pid, startTicks, host] = JSON.parse(text) as [number, number | null, string]
  return !isOwnerAlive({ pid, startTicks, host })
}
