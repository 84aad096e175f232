import { block } from './block.ts'

/** null without a budget. */
export function timeBudgetNotice(seconds: number): string | null {
  if (seconds <= 0) return null
  return block(
    'Time Budget',
    [
      `- This session has ${seconds} seconds.`,
      '- They are for the task: exploring or optimising beyond it is not part of the budget.',
    ],
    250,
  )
}
