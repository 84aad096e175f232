import { checkSubmission } from '../../task/validate-start.ts'
import type { TaskSubmission } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'

/** Everything that would keep a task from starting, in one error, before it is queued. Warnings go to the person. */
export async function checkStart(submission: TaskSubmission, context: CliContext): Promise<void> {
  for (const warning of await checkSubmission(submission, context)) context.stderr.write(`${warning}\n`)
}
