import type { LiveRun } from '../store/contract.ts'

/** Stages inside a trial that survive kill -9: what must not be done, or paid for, twice. */
export interface Checkpoints {
  /** undefined when the stage has not been finished. */
  read(name: string): unknown
  write(name: string, value: unknown): void
}

/**
 * The checkpoints of one attempt. `mayExist`: an earlier process may have left some. In a new run nothing can be left, and
 * every look costs a system call.
 */
export function openCheckpoints(run: LiveRun, trialId: string, mayExist: boolean): Checkpoints {
  return {
    read: (name) => (mayExist ? run.checkpointOf(trialId, name) : undefined),
    write: (name, value) => run.checkpoint(trialId, name, value),
  }
}
