import type { TaskStep } from '../contract.ts'

/** Passes on what the work of a task tells, at once or when it is time. */
export interface Feed {
  readonly emit: (step: TaskStep) => void
  /** What is told meanwhile is not passed on but given back with the result. */
  hold<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly told: readonly TaskStep[] }>
}

export function openFeed(pass: (step: TaskStep) => void): Feed {
  let held: TaskStep[] | null = null
  return {
    emit: (step) => {
      if (held === null) pass(step)
      else held.push(step)
    },
    hold: async (work) => {
      const told: TaskStep[] = []
      held = told
      try {
        return { result: await work(), told }
      } finally {
        held = null
      }
    },
  }
}
