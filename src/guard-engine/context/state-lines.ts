import type { TaskHistory } from '../contract.ts'
import { printable } from '../printable.ts'
import { fenced } from './block.ts'

const maxTitleLength = 300

/** Where the work stands. The title of the task is text of the plan. */
export function stateLines({
  phase,
  current,
  done,
  remaining,
  iteration,
  tdd,
}: TaskHistory): readonly string[] {
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
