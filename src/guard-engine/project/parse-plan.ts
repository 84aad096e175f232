import {
  headingOf,
  looksLikeCommand,
  type MarkdownLine,
  markdownLines,
  maxLineLength,
} from './markdown-lines.ts'

/** The parsed parts of IMPLEMENTATION_PLAN.md. */
export interface Plan {
  readonly tasks: readonly PlanTask[]
  /** Backticked commands of the Verification section, in order. */
  readonly verification: readonly string[]
}

export interface PlanTask {
  readonly title: string
  /** Line of the checkbox, from 1. */
  readonly line: number
  readonly done: boolean
  /** The lines below it, up to the next task or heading: dependencies, tests, files. */
  readonly details: readonly string[]
}

/** A task is a checkbox at the start of a line: `- [ ]` open, `- [x]` done. Indented checkboxes are details of a task. */
export function parsePlan(text: string): Plan {
  const tasks: { title: string; line: number; done: boolean; details: string[] }[] = []
  const verification: string[] = []
  let current: string[] | null = null
  let sectionLevel: number | null = null
  for (const line of markdownLines(text)) {
    const heading = headingOf(line.text)
    if (heading !== null) {
      current = null
      if (sectionLevel === null || heading.level <= sectionLevel)
        sectionLevel = /\bverification\b/i.test(heading.text) ? heading.level : null
      continue
    }
    if (sectionLevel !== null) verification.push(...commandIn(line.text))
    const task = /^[-*+] \[([ xX])\](?:[ \t]+(.*))?$/s.exec(line.text)
    if (task === null) {
      current?.push(line.text)
      continue
    }
    const details: string[] = []
    tasks.push({ title: titleOf(task[2], line), line: line.number, done: task[1] !== ' ', details })
    current = details
  }
  return { tasks: tasks.map((task) => ({ ...task, details: trimmed(task.details) })), verification }
}

function titleOf(text: string | undefined, { number }: MarkdownLine): string {
  const title = text?.trim() ?? ''
  return title === '' ? `task on line ${number}` : title
}

function trimmed(lines: readonly string[]): readonly string[] {
  const end = lines.findLastIndex((line) => line.trim() !== '')
  return lines.slice(0, end + 1)
}

/** The first backticked text of the line that a shell could run. */
function commandIn(text: string): readonly string[] {
  if (text.length > maxLineLength) return []
  const quoted = text.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g)
  for (const { 2: inner = '', 0: whole } of quoted) {
    const alone = text.replace(whole, '').replace(/^\s*(?:[-*+]|\d+[.)])?\s*(?:\[[ xX]\])?/, '')
    if (looksLikeCommand(inner, { alone: alone.trim() === '' })) return [inner.trim()]
  }
  return []
}
