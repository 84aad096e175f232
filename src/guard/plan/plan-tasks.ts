import { type PlanTask, parsePlan } from '../../guard-engine/project/parse-plan.ts'

export interface KeyedTask extends PlanTask {
  /** Its title; from the second task of the same title on with a number. Counters and boxes go by it, not by the line. */
  readonly key: string
}

export function planTasks(text: string): readonly KeyedTask[] {
  const seen = new Map<string, number>()
  return parsePlan(text).tasks.map((task) => {
    const title = task.title.replaceAll(/\s+/g, ' ')
    const count = (seen.get(title) ?? 0) + 1
    seen.set(title, count)
    return { ...task, key: count === 1 ? title : `${title} (${count})` }
  })
}
