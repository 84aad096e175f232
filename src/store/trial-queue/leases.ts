import type { SqlSession } from '../../io/sql.ts'

/** Who may work on what. A lane is a queue of its own. */
export interface Leases {
  readonly leaseSeconds: number
  /** Before any other call for the lane, outside of a transaction. */
  makeLane(lane: string): Promise<void>
  add(session: SqlSession, lane: string, leases: readonly NewLease[]): Promise<void>
  /** Takes the first leases, at most so many, whose group is not among these. */
  take(
    session: SqlSession,
    lane: string,
    ignoredGroups: readonly string[],
    most: number,
  ): Promise<readonly TakenLease[]>
  /** false: another attempt holds it, or none does. */
  touch(lane: string, lease: TakenLease): Promise<boolean>
  /** The ids of those that were still held. */
  end(session: SqlSession, lane: string, leases: readonly TakenLease[]): Promise<readonly string[]>
  /** Takes waiting leases out of the queue. */
  cancel(session: SqlSession, lane: string, ids: readonly string[]): Promise<void>
  /** Returns those without a beat to the queue. */
  expire(lanes: readonly string[]): Promise<void>
  /** Those that no worker holds any more: they wait, or were tried too often. */
  states(
    session: SqlSession,
    lane: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, 'waiting' | 'held' | 'dead'>>
  close(): Promise<void>
}

export interface NewLease {
  /** A UUID. */
  readonly id: string
  readonly group: string
  readonly priority: number
}

export interface TakenLease {
  readonly id: string
  readonly attempt: number
}

/** A trial whose workers died this often is not run again. */
export const maxAttempts = 10
