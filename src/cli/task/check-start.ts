import { startError, validateStart } from '../../task/validate-start.ts'
import type { CliContext } from '../context.ts'
import { repositoryOf, type TaskFlags, taskOptions } from './task-flags.ts'

/** Everything that would keep a task from starting, in one error, before it is queued. Warnings go to the person. */
export async function checkStart(
  description: string,
  flags: TaskFlags,
  context: CliContext,
): Promise<string> {
  const repository = repositoryOf(context, flags)
  const { agent = 'builtin', model = 'default', sandbox = 'auto', config_file } = taskOptions(context, flags)
  const check = await validateStart({
    repository,
    description,
    agent,
    model,
    sandbox,
    env: context.env,
    signal: context.signal,
    ...(config_file !== undefined && { configFile: config_file }),
  })
  if (check.kind === 'refused') throw startError(check.problems)
  for (const warning of check.warnings) context.stderr.write(`${warning}\n`)
  return repository
}
