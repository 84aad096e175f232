import { type StartRequest, startError, validateStart } from './validate-start.ts'
import type { Submission } from './worker/submit-task.ts'

/**
 * Throws one GantryError with everything that would keep a task from starting, before it is queued. Answers what a person should
 * know all the same.
 */
export async function checkSubmission(
  { repository, description, options = {} }: Submission,
  { env, signal }: Pick<StartRequest, 'env' | 'signal'>,
): Promise<readonly string[]> {
  const { agent = 'builtin', model = 'default', sandbox = 'auto', config_file } = options
  const check = await validateStart({
    repository,
    description,
    agent,
    model,
    sandbox,
    env,
    signal,
    ...(config_file !== undefined && { configFile: config_file }),
  })
  if (check.kind === 'refused') throw startError(check.problems)
  return check.warnings
}
