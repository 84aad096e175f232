import { planTasks } from './plan-tasks.ts'
import { setBoxes } from './set-boxes.ts'

export interface Reconciled {
  /** The plan as it goes on: notes of the agent stay, boxes are as they were, and the task at hand is open. */
  readonly text: string
  /** Did the agent tick the task at hand? */
  readonly ticked: boolean
  /** Titles of other tasks whose boxes the agent changed; they are as before. */
  readonly others: readonly string[]
  /** Titles of tasks that were gone. Then the whole plan is as before: nobody finishes a plan by shortening it. */
  readonly missing: readonly string[]
}

/** What becomes of the plan after an agent had it in its hands. Boxes are Gantry's alone. `after` is null when the file is gone. */
export function reconcilePlan(before: string, after: string | null, current: string): Reconciled {
  const then = planTasks(before)
  const now = new Map(planTasks(after ?? '').map((task) => [task.key, task]))
  const missing = then.filter(({ key }) => !now.has(key)).map(({ title }) => title)
  const ticked = now.get(current)?.done === true
  if (missing.length > 0) return { text: opened(before, current), ticked, others: [], missing }
  const known = new Map(then.map(({ key, done }) => [key, done]))
  const wanted = (key: string): boolean => key !== current && known.get(key) === true
  const changed = [...now.values()].filter(({ key, done }) => done !== wanted(key))
  const text = setBoxes(after ?? '', new Map(changed.map(({ key, line }) => [line, wanted(key)])))
  const others = changed.filter(({ key }) => key !== current).map(({ title }) => title)
  return { text, ticked, others, missing }
}

function opened(text: string, key: string): string {
  const task = planTasks(text).find((one) => one.key === key)
  return task === undefined ? text : setBoxes(text, new Map([[task.line, false]]))
}
