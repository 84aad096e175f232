import { Command, Option } from 'commander'
import { counted } from '../core/counted.ts'
import { formatDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import type { TrialQueue } from '../store/trial-queue/contract.ts'
import type { CliContext } from './context.ts'
import { duration } from './flag-values.ts'

interface QueueFlags {
  readonly queue?: string
  readonly json?: boolean
}

export function queueOption(): Option {
  return new Option(
    '--queue <address>',
    'postgres://user@host/database, or sqlite:FILE for one machine (else GANTRY_QUEUE)',
  )
}

export function queueAddress({ queue }: QueueFlags, { env }: Pick<CliContext, 'env'>): string {
  const address = queue ?? env.GANTRY_QUEUE
  if (address !== undefined && address !== '') return address
  throw new GantryError('USAGE', 'no queue was named', {
    hint: 'Add --queue postgres://…, or set GANTRY_QUEUE.',
  })
}

/** `gantry queue`: what waits, who works, and how to steer it. */
export function queueCommand(context: CliContext): Command {
  const command = new Command('queue')
  const add = (name: string, description: string): Command =>
    command.command(name).description(description).addOption(queueOption())
  const print = (flags: QueueFlags, document: unknown, lines: readonly string[]): void =>
    context.stdout.write(
      flags.json === true ? `${JSON.stringify(document)}\n` : lines.map((line) => `${line}\n`).join(''),
    )
  const json = ['--json', 'print JSON and nothing else on standard output'] as const
  add('status', 'Show the runs of the queue, what waits, what runs, and what is paused.')
    .option(...json)
    .action((flags: QueueFlags) =>
      withQueue(flags, context, async (queue) => {
        await queue.expire()
        const [runs, counts, pauses, workers] = [
          await queue.runs(),
          await queue.counts(),
          await queue.pauses(),
          await queue.workers(),
        ]
        print(flags, { runs: runs.map(({ document: _, ...run }) => run), counts, pauses, workers }, [
          ...counts.map(({ run, group, state, count }) => `${run}  ${group}  ${state}  ${count}`),
          ...pauses.map(
            ({ group, leftMs, reason }) =>
              `paused: ${group} ${leftMs === null ? '' : `for ${formatDuration(leftMs)} `}(${reason})`,
          ),
          `${counted(workers.length, 'worker')}.`,
        ])
      }),
    )
  add('workers', 'List the workers that are alive.')
    .option(...json)
    .action((flags: QueueFlags) =>
      withQueue(flags, context, async (queue) => {
        const workers = await queue.workers()
        print(
          flags,
          workers,
          workers.map(({ id, slots, running, labels, isDraining }) =>
            [id, `${running}/${slots}`, labels.join(','), isDraining ? 'draining' : '']
              .filter((word) => word !== '')
              .join('  '),
          ),
        )
      }),
    )
  add('pause', 'Start no trials of a group (provider/model), or of all groups.')
    .argument('[group]', 'as `gantry queue status` shows it; default: all')
    .option('--for <duration>', 'how long, for example 2h', duration)
    .action((group: string | undefined, flags: QueueFlags & { readonly for?: number }) =>
      withQueue(flags, context, (queue) =>
        queue.pause(group ?? '*', flags.for ?? null, 'paused by a person'),
      ),
    )
  add('resume', 'End a pause.')
    .argument('[group]', 'default: all')
    .action((group: string | undefined, flags: QueueFlags) =>
      withQueue(flags, context, (queue) => queue.resume(group ?? '*')),
    )
  add('drain', 'Ask workers to finish what they have and end.')
    .argument('[worker]', 'as `gantry queue workers` shows it; default: all')
    .action((worker: string | undefined, flags: QueueFlags) =>
      withQueue(flags, context, async (queue) => {
        context.stdout.write(`Asked ${counted(await queue.drain(worker ?? null), 'worker')}.\n`)
      }),
    )
  add('retry', 'Queue trials of a run again that were not run or failed for infrastructure reasons.')
    .argument('<run>', 'a run id')
    .action((run: string, flags: QueueFlags) =>
      withQueue(flags, context, async (queue) => {
        context.stdout.write(`Queued ${counted(await queue.retry(run), 'trial')} again.\n`)
      }),
    )
  return command
}

export async function withQueue<T>(
  flags: QueueFlags,
  context: CliContext,
  work: (queue: TrialQueue) => Promise<T>,
): Promise<T> {
  const { openTrialQueue } = await import('../store/trial-queue/open-trial-queue.ts')
  const queue = await openTrialQueue(queueAddress(flags, context), context.cwd)
  try {
    return await work(queue)
  } finally {
    await queue.close()
  }
}
