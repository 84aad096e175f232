import type { PastCall } from '../contract.ts'

/** A loop that the newest call is part of. */
export interface Loop {
  /** Which loop, as opposed to any other in the session. */
  readonly key: string
  /** How often round, so far. */
  readonly times: number
  /** What repeats, for the model. */
  readonly what: string
  /** What to do differently. */
  readonly advice: string
}

/** Looks at one agent's calls, oldest first and the newest last; null when it sees none. Pure. */
export type LoopDetector = (calls: readonly PastCall[], threshold: number) => Loop | null

export function isEdit({ action, outcome }: PastCall): boolean {
  return (action === 'write' || action === 'edit' || action === 'patch') && outcome !== 'failure'
}

/** For a message: one line, in quotes. */
export function quoted({ tool, label }: PastCall): string {
  return label === '' ? tool : `\`${label}\``
}
