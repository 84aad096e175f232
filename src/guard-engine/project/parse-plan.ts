import { looksLikeCommand, maxLineLength } from './discover-commands.ts'

/** IMPLEMENTATION_PLAN.md as far as a program understands it. */
export interface Plan {
  readonly tasks: readonly PlanTask[]
  /** Backticked commands of the section Verification, in their order. */
  readonly verification: readonly string[]
}

export interface PlanTask {
  readonly title: string
  /** Of the checkbox, from 1. */
  readonly line: number
  readonly done: boolean
  /** What stands below it, to the next task or heading: what it depends on, its tests, its files. */
  readonly details: readonly string[]
}

/** A task is a checkbox at the beginning of a line: `- [ ]` open, `- [x]` done. Indented ones are details of a task. */
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

interface MarkdownLine {
  readonly text: string
  /** From 1. */
  readonly number: number
}

/**
 * Lines of a Markdown text that are neither in a code fence nor in a comment, without byte order mark and carriage returns.
 * A fence or comment that is never closed hides nothing: otherwise three characters could make a plan look empty.
 */
export function markdownLines(given: string): readonly MarkdownLine[] {
  const lines = (given.startsWith('\uFEFF') ? given.slice(1) : given).split(/\r\n|\r|\n/)
  const closers = lastClosers(lines)
  const found: MarkdownLine[] = []
  let fence: { readonly char: string; readonly length: number } | null = null
  let inComment = false
  for (const [index, text] of lines.entries()) {
    if (fence !== null) {
      const marker = closer(text)
      if (marker !== null && marker.char === fence.char && marker.length >= fence.length) fence = null
      continue
    }
    if (inComment) {
      inComment = !text.includes('-->')
      continue
    }
    const opens = opener(text)
    if (opens !== null && (closers.fences[opens.char]?.[index + 1] ?? 0) >= opens.length) {
      fence = opens
      continue
    }
    if (/^ {0,3}<!--/.test(text)) {
      const rest = text.slice(text.indexOf('<!--') + 4)
      if (rest.includes('-->')) continue
      if (index < closers.comment) {
        inComment = true
        continue
      }
    }
    found.push({ text, number: index + 1 })
  }
  return found
}

interface Marker {
  readonly char: string
  readonly length: number
}

function opener(text: string): Marker | null {
  const match = /^ {0,3}(`{3,})[^`]*$|^ {0,3}(~{3,})/.exec(text)
  const run = match?.[1] ?? match?.[2]
  return run === undefined ? null : { char: run.charAt(0), length: run.length }
}

function closer(text: string): Marker | null {
  const run = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(text)?.[1]
  return run === undefined ? null : { char: run.charAt(0), length: run.length }
}

/** From each line on, the longest fence of each kind that could close one; and the last line that closes a comment. */
function lastClosers(lines: readonly string[]): {
  readonly fences: Readonly<Record<string, readonly number[]>>
  readonly comment: number
} {
  const fences = { '`': [0], '~': [0] }
  for (const text of lines.toReversed()) {
    const marker = closer(text)
    for (const char of ['`', '~'] as const) {
      const above = fences[char].at(-1) ?? 0
      fences[char].push(marker?.char === char ? Math.max(above, marker.length) : above)
    }
  }
  return {
    fences: { '`': fences['`'].reverse(), '~': fences['~'].reverse() },
    comment: lines.findLastIndex((text) => text.includes('-->')),
  }
}

interface Heading {
  readonly level: number
  readonly text: string
}

/** null when the line is no heading. */
export function headingOf(text: string): Heading | null {
  const match = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(text)
  if (match === null) return null
  return { level: match[1]?.length ?? 1, text: withoutClosing(text.slice(match[0].length).trim()) }
}

/** `## Heading ##`. By hand, since whoever wrote the line may want an expression to take for ever. */
function withoutClosing(text: string): string {
  let end = text.length
  while (text[end - 1] === '#') end -= 1
  return end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t' ? text.slice(0, end).trim() : text
}
