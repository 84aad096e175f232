import { shorten } from '../../core/shorten.ts'
import type { PlanHistory } from '../contract.ts'
import { printable } from '../printable.ts'

/** A section of the context for an agent: a heading and lines, limited in length. */
export function block(heading: string, lines: readonly string[], maxLength: number): string {
  return capped([`## ${heading}`, ...lines].join('\n'), maxLength)
}

/** Text of the repository in a fence that it cannot close. The lines must be printable. */
export function fenced(lines: readonly string[]): readonly string[] {
  // A longer fence would work too, but then the repository would decide its length.
  return ['```', ...lines.map((line) => line.replaceAll(/`{3,}/g, '``…')), '```']
}

/** The lines that fit, and the number of those that do not. */
export function fitting(lines: readonly string[], maxLength: number) {
  let length = 0
  const end = lines.findIndex((line) => {
    length += line.length + 1
    return length > maxLength
  })
  return end === -1 ? { lines, omitted: 0 } : { lines: lines.slice(0, end), omitted: lines.length - end }
}

/** A last resort. The sections limit themselves. */
export function capped(text: string, maxLength: number): string {
  return shorten(text, maxLength)
}

const maxTitleLength = 300

/** Progress of the work. The title of the task is text from the plan. */
export function stateLines({
  phase,
  current,
  done,
  remaining,
  iteration,
  tdd,
}: PlanHistory): readonly string[] {
  return [
    `- Phase: ${phase}`,
    `- Progress: ${done} completed, ${remaining} remaining`,
    `- Iteration: ${iteration}`,
    `- TDD phase: ${tdd ?? 'none'}`,
    ...(current === null
      ? ['- Current task: none']
      : ['- Current task, as the plan has it:', ...fenced([printable(current, maxTitleLength)])]),
  ]
}
