import { shorten } from '../../core/shorten.ts'
import type { PlanHistory } from '../contract.ts'
import { printable } from '../printable.ts'

/** A part of what an agent is told: a heading and lines, never longer than its own share. */
export function block(heading: string, lines: readonly string[], maxLength: number): string {
  return capped([`## ${heading}`, ...lines].join('\n'), maxLength)
}

/** Text of the repository, fenced so that it cannot end the fence itself. Its lines must be printable. */
export function fenced(lines: readonly string[]): readonly string[] {
  // A longer fence would do too, but its length would be the repository's to choose.
  return ['```', ...lines.map((line) => line.replaceAll(/`{3,}/g, '``…')), '```']
}

/** As many of the lines as fit, and how many do not. */
export function fitting(
  lines: readonly string[],
  maxLength: number,
): { readonly lines: readonly string[]; readonly omitted: number } {
  let length = 0
  const end = lines.findIndex((line) => {
    length += line.length + 1
    return length > maxLength
  })
  return end === -1 ? { lines, omitted: 0 } : { lines: lines.slice(0, end), omitted: lines.length - end }
}

/** A last resort: the parts keep themselves shorter. */
export function capped(text: string, maxLength: number): string {
  return shorten(text, maxLength)
}

const maxTitleLength = 300

/** Where the work stands. The title of the task is text of the plan. */
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
