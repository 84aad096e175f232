import type { PlanFacts } from '../contract.ts'
import { printable } from '../printable.ts'
import { block, fenced } from './block.ts'

const maxLength = 600
const maxTitleLength = 300

/** How far the plan is, and what comes next. */
export function taskStatus({ total, done, open }: PlanFacts): string {
  const [next] = open
  return block(
    'Task Status',
    [
      `- Total tasks: ${total}`,
      `- Completed: ${done}`,
      `- Remaining: ${total - done}`,
      ...(next === undefined
        ? ['- Next task: none']
        : ['- Next task, as IMPLEMENTATION_PLAN.md has it:', ...fenced([printable(next, maxTitleLength)])]),
    ],
    maxLength,
  )
}
