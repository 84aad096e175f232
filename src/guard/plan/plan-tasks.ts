import { headingOf, markdownLines } from '../../guard-engine/project/markdown-lines.ts'
import { type PlanTask, parsePlan } from '../../guard-engine/project/parse-plan.ts'

export interface KeyedTask extends PlanTask {
  /** The title; repeated titles get a number. Counters and boxes are matched by this key, not by line. */
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

/** Returns the text with these boxes ticked or opened, and nothing else changed, including line endings. Lines count from 1. */
export function setBoxes(text: string, done: ReadonlyMap<number, boolean>): string {
  const parts = text.split(/(\r\n|\r|\n)/)
  for (const [line, isDone] of done) {
    // Odd parts are the line endings.
    const at = (line - 1) * 2
    const part = parts[at]
    if (part !== undefined)
      parts[at] = part.replace(/^(\uFEFF?[-*+] \[)([ xX])(?=\])/, (whole, start: string, mark: string) =>
        (mark !== ' ') === isDone ? whole : `${start}${isDone ? 'x' : ' '}`,
      )
  }
  return parts.join('')
}

export interface Reconciled {
  /** The restored plan: the agent's notes stay, the boxes are as before and the current task is open. */
  readonly text: string
  /** Whether the agent ticked the current task. */
  readonly ticked: boolean
  /** Titles of other tasks whose boxes the agent changed. They are restored. */
  readonly others: readonly string[]
  /** Titles of removed tasks. If there are any, the whole plan is restored: removing tasks must not finish a plan. */
  readonly missing: readonly string[]
}

/** Restores the plan after an agent worked on it. Only Gantry changes boxes. `after` is null when the file is gone. */
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

/** The lines of the task in the plan, including code, up to the next task or heading, with the heading above it. */
export function taskSection(text: string, task: Pick<KeyedTask, 'line'>): readonly string[] {
  const lines = text.split(/\r\n|\r|\n/)
  const headings = markdownLines(text).filter((line) => headingOf(line.text) !== null)
  const above = headings.findLast(({ number }) => number < task.line)
  const bounds = [...headings.map(({ number }) => number), ...planTasks(text).map(({ line }) => line)]
  const end = Math.min(lines.length + 1, ...bounds.filter((line) => line > task.line))
  const own = lines.slice(task.line - 1, end - 1)
  const last = own.findLastIndex((line) => line.trim() !== '')
  return [...(above === undefined ? [] : [above.text]), ...own.slice(0, last + 1)]
}
