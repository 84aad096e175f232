import type { Fold, TaskHistory } from '../contract.ts'

export const taskFold: Fold<TaskHistory> = {
  initial: {
    current: null,
    done: 0,
    remaining: 0,
    iteration: 0,
    phase: 'idle',
    tdd: null,
    plan: null,
  },
  apply: (state) => state,
}
