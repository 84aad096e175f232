import type { PastCall } from '../contract.ts'
import { isEditing } from '../store-event.ts'

/** A loop that the newest call is part of. */
export interface Loop {
  /** Identifies the loop within the session. */
  readonly key: string
  /** Number of rounds so far. */
  readonly times: number
  /** What repeats, for the model. */
  readonly what: string
  /** What to do differently. */
  readonly advice: string
}

/** Checks one agent's calls, oldest first; null when there is no loop. Pure. */
export type LoopDetector = (calls: readonly PastCall[], threshold: number) => Loop | null

export function isEdit({ action, outcome }: PastCall): boolean {
  return isEditing(action) && outcome !== 'failure'
}

/** The call for a message: one line, in quotes. */
export function quoted({ tool, label }: PastCall): string {
  return label === '' ? tool : `\`${label}\``
}
