import { headingOf, markdownLines } from '../../guard-engine/project/parse-plan.ts'
import { type KeyedTask, planTasks } from './plan-tasks.ts'

/** The task's own lines as they stand in the plan, code included, to the next task or heading; with the heading above it. */
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
