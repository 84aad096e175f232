import { GantryError } from '../core/error.ts'
import type { ParsedTask } from './contract.ts'

export const taskTextLimits = { maxChars: 10_000, warnBelowChars: 3, warnObjectiveBelowChars: 10 } as const

/** The parts of a task text. Throws GantryError USAGE for a text that is not a task. */
export function parseTask(text: string): ParsedTask {
  const refusal = taskTextProblem(text)
  if (refusal !== null)
    throw new GantryError('USAGE', refusal, { hint: 'Describe in a few sentences what to do.' })
  const { lists, rest } = takeApart(text.replaceAll(/\r\n?/g, '\n'))
  const objective = rest === '' ? (firstLine(text) ?? '') : rest
  return {
    objective,
    ...lists,
    successCriteria: criteriaOf(objective, lists.mustPreserve),
    warnings: warningsOf(text, objective),
  }
}

/** null when the text can be a task. */
export function taskTextProblem(text: string, what: 'task' | 'message' = 'task'): string | null {
  if (text === '') return `the ${what} is empty`
  if (text.trim() === '') return `the ${what} is blank`
  const { maxChars } = taskTextLimits
  if (text.length <= maxChars) return null
  const [length, limit] = [text.length, maxChars].map((count) => count.toLocaleString('en-US'))
  return `the ${what} has ${length} characters, the limit is ${limit}`
}

type Lists = Pick<ParsedTask, 'mustPreserve' | 'nonGoals' | 'boundaries'>

const headings: readonly (readonly [keyof Lists, RegExp])[] = [
  ['mustPreserve', /^(?:constraints?|must[ -]preserve|requirements?)$/],
  ['nonGoals', /^(?:non-?\s?goals?|don['’]?t|do not|avoid)$/],
  ['boundaries', /^(?:boundar(?:y|ies)|out[ -]of[ -]scope|scope limits?)$/],
]

/** A heading is a separate line: `Constraints:`, `## Non-goals`, `**Avoid**`. Bullets follow, perhaps with blank lines between. */
function takeApart(text: string): { readonly lists: Lists; readonly rest: string } {
  const lists = { mustPreserve: [] as string[], nonGoals: [] as string[], boundaries: [] as string[] }
  const rest: string[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const name = headingOf(line)
    const section = name === null ? null : readBullets(lines, at + 1)
    if (name === null || section === null) {
      rest.push(line)
      at += 1
      continue
    }
    lists[name].push(...section.items)
    at = section.end
  }
  return {
    lists,
    rest: rest
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
  }
}

function headingOf(line: string): keyof Lists | null {
  const bare = line
    .trim()
    .replace(/^#{1,6}\s+/, '')
    .replace(/^(\*\*|__)(.*)\1(:?)$/, '$2$3')
    .replace(/\s*:\s*$/, '')
    .replace(/:?(\*\*|__)$/, '')
    .trim()
    .toLowerCase()
  return headings.find(([, pattern]) => pattern.test(bare))?.[0] ?? null
}

/** null when no bullet follows: the line is ordinary text then. */
function readBullets(lines: readonly string[], start: number) {
  const items: string[] = []
  let end = start
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const item = /^\s*(?:[-*•]|\d{1,3}[.)])\s+(.*\S)\s*$/.exec(line)?.[1]
    if (item !== undefined) items.push(item)
    else if (line.trim() === '') continue
    // A bullet may continue in indented lines.
    else if (items.length > 0 && /^\s{2,}\S/.test(line) && end === at)
      items.push(`${items.pop()} ${line.trim()}`)
    else break
    end = at + 1
  }
  return items.length === 0 ? null : { items, end }
}

function firstLine(text: string): string | undefined {
  return text
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '')
}

const hints: readonly (readonly [RegExp, string])[] = [
  [/\b(?:fix(?:es|ed|ing)?|bugs?)\b/i, 'The bug no longer occurs, and a test would notice if it came back.'],
  [/\b(?:add(?:s|ed|ing)?|implement(?:s|ed|ing)?)\b/i, 'The new behaviour works and has tests.'],
  [/\brefactor(?:s|ed|ing)?\b/i, 'Behaviour is unchanged: every test that passed before still passes.'],
  [/\btests?\b/i, 'The tests that are asked for exist, are run and pass.'],
  [
    /\b(?:updat(?:e|es|ed|ing)|chang(?:e|es|ed|ing))\b/i,
    'The change is made everywhere it applies, and nothing else changes.',
  ],
]

function criteriaOf(objective: string, mustPreserve: readonly string[]): readonly string[] {
  const implied = hints.filter(([words]) => words.test(objective)).map(([, criterion]) => criterion)
  return [
    objective,
    ...mustPreserve.map((constraint) => `Preserved: ${constraint}`),
    ...(implied.length === 0 ? ['All tests pass.'] : implied),
  ]
}

function warningsOf(text: string, objective: string): readonly string[] {
  const { warnBelowChars, warnObjectiveBelowChars } = taskTextLimits
  return [
    ...(text.trim().length < warnBelowChars
      ? [`The task has fewer than ${warnBelowChars} characters. Describe in more detail what to do.`]
      : []),
    ...(objective.length < warnObjectiveBelowChars
      ? [`The objective has fewer than ${warnObjectiveBelowChars} characters. Describe it in more detail.`]
      : []),
  ]
}
