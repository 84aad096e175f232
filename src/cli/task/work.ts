import { resolve } from 'node:path'
import { Command } from 'commander'
import { exitCode } from '../../core/exit-code.ts'
import type { CliContext } from '../context.ts'

interface WorkFlags {
  readonly from?: string
}

export function taskWorkCommand(context: CliContext): Command {
  return new Command('work')
    .description('Do what is queued, also what a killed worker left, until nothing is left to do.')
    .option('--from <dir>', 'the place whose store is meant (default: the working directory)')
    .action(async ({ from }: WorkFlags) => {
      const { withQueue } = await import('./open-task-queue.ts')
      const { workOnQueue } = await import('../../task/worker/work-on-queue.ts')
      const { workerPowers } = await import('./worker-powers.ts')
      const here = from === undefined ? context : { ...context, cwd: resolve(context.cwd, from) }
      await withQueue(here, (queue, store) =>
        workOnQueue({ until: 'empty', signal: context.signal }, workerPowers(here, queue, store)),
      )
      if (context.signal.aborted) context.setExitCode(exitCode.interrupted)
    })
}
