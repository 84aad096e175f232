import { hostname } from 'node:os'
import { Command } from 'commander'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { version } from '../core/version.ts'
import type { CliContext } from './context.ts'
import { count, list } from './flag-values.ts'
import { queueAddress, queueOption } from './queue.ts'

interface WorkFlags {
  readonly queue?: string
  readonly concurrency: number
  readonly only?: string[]
  readonly label?: string[]
  readonly untilEmpty?: boolean
}

export function workCommand(context: CliContext): Command {
  return new Command('work')
    .description(
      'Take trials from a queue and run them on this machine, until Ctrl-C. No project has to be here.',
    )
    .addOption(queueOption())
    .option('-j, --concurrency <n>', 'trials at a time', count, 2)
    .option('--only <agent=name>', 'only trials of these agents; repeatable', list)
    .option('--label <label>', 'what this machine has besides agents, for example gpu; repeatable', list)
    .option('--until-empty', 'end when nothing waits')
    .action(async (flags: WorkFlags) => {
      const { openTrialQueue } = await import('../store/trial-queue/open-trial-queue.ts')
      const { workQueue } = await import('../scenario/work-queue.ts')
      const { newUuid } = await import('../io/ids.ts')
      const onlyAgents = (flags.only ?? []).map(agentOf)
      const queue = await openTrialQueue(queueAddress(flags, context), context.cwd)
      const host = hostname()
      try {
        const { trials } = await workQueue({
          queue,
          worker: {
            id: `${host}-${newUuid().slice(0, 8)}`,
            host,
            slots: flags.concurrency,
            gantry: version,
            labels: flags.label ?? [],
            agents: {},
          },
          onlyAgents,
          untilEmpty: flags.untilEmpty === true,
          env: context.env,
          signal: context.signal,
          note: (message) => context.stderr.write(`${message}\n`),
        })
        context.stdout.write(`Worked on ${counted(trials, 'trial')}.\n`)
      } finally {
        await queue.close()
      }
    })
}

function agentOf(text: string): string {
  const [, name] = /^agent=(.+)$/.exec(text) ?? []
  if (name !== undefined) return name
  throw new GantryError('USAGE', `--only ${text} is not agent=NAME`, {
    hint: 'Write --only agent=claude-code.',
  })
}
