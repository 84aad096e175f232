import type { LiveRun } from '../../store/contract.ts'

/**
 * What a task has finished, kept in its run directory. A task that is taken up again walks through the same steps: those that are
 * kept give back what they came to, so that nothing is paid for or counted twice; the first one that is not is done.
 */
export interface Journal {
  /** What the step came to, now or in an earlier process. It is kept before this returns. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Keeps a fact on the way to a step, such as that it was begun. */
  keep(name: string, value: unknown): void
  /** undefined when nothing was kept under this name. */
  kept<T>(name: string): T | undefined
}

const trial = 'task'
/** Of the shape of what is kept: what another version wrote is done again. */
const edition = 1

export function openJournal(run: LiveRun): Journal {
  run.openTrial(trial)
  const keep = (name: string, value: unknown): void => run.checkpoint(trial, name, { edition, value })
  const kept = <T>(name: string): T | undefined => {
    const found = run.checkpointOf(trial, name)
    return isEntry(found) ? (found.value as T) : undefined
  }
  return {
    keep,
    kept,
    step: async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const earlier = kept<T>(name)
      if (earlier !== undefined) return earlier
      const value = await work()
      keep(name, value)
      return value
    },
  }
}

function isEntry(value: unknown): value is { readonly edition: number; readonly value: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'edition' in value &&
    value.edition === edition &&
    'value' in value
  )
}
