import { isOwnerAlive, type ProcessOwner } from '../../io/process-owner.ts'

export function ownerText({ pid, startTicks, host }: ProcessOwner): string {
  return JSON.stringify([pid, startTicks, host])
}

/** Whether the process that held a claim is dead. A claim without a holder was left, too. */
export function wasLeft(text: unknown): boolean {
  if (typeof text !== 'string') return true
  const [pid, startTicks, host] = JSON.parse(text) as [number, number | null, string]
  return !isOwnerAlive({ pid, startTicks, host })
}
