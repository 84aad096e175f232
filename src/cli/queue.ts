import { Command, Option } from 'commander'
import { counted } from '../core/counted.ts'
import { formatDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import type { TrialQueue } from '../store/trial-queue/contract.ts'
import type { QueueStatus } from '../store/trial-queue/why-waiting.ts'
import type { CliContext } from './context.ts'
import { count, duration } from './flag-values.ts'

export interface QueueFlags {
  readonly queue?: string
  readonly blobs?: string
  readonly json?: boolean
}

type PauseFlags = QueueFlags & { readonly for?: number }

export function queueOption(): Option {
  return new Option(
    '--queue <address>',
    'postgres://user@host/database, or sqlite:FILE for one machine (else GANTRY_QUEUE)',
  )
}

export function blobsOption(): Option {
  return new Option(
    '--blobs <place>',
    'keep files in a directory that all machines share, or in s3://bucket/prefix, and not in the database (else GANTRY_BLOBS)',
  )
}

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
        const { queueLines, queueStatus } = await import('../store/trial-queue/why-waiting.ts')
        const status = await queueStatus(queue)
        print(flags, status, [
          ...status.counts.map(({ run, group, state, count: n }) => `${run}  ${group}  ${state}  ${n}`),
          ...(await queueLines(queue)),
        ])
      }),
    )
  add('workers', 'List the workers that are alive.')
    .option(...json)
    .action((flags: QueueFlags) =>
      withQueue(flags, context, async (queue) => {
        const workers = await queue.workers()
        const lines = workers.map(({ id, slots, holds, labels, memoryMb, agents, isDraining }) =>
          [
            ...[id, `${holds.length}/${slots}`, `${memoryMb} MB`, labels.join(',')],
            Object.entries(agents)
              .map(([name, version]) => `${name} ${version ?? ''}`.trim())
              .join(','),
            isDraining ? 'draining' : '',
          ]
            .filter((word) => word !== '')
            .join('  '),
        )
        print(flags, workers, lines.length === 0 ? ['No worker is running.'] : lines)
      }),
    )
  type Act = (queue: TrialQueue, name: string | undefined, flags: PauseFlags) => Promise<string>
  const act = (work: Act) => (name: string | undefined, flags: PauseFlags) =>
    withQueue(flags, context, async (queue) => print(flags, null, [await work(queue, name, flags)]))
  const trialsOf = (group: string | undefined) => (group === undefined ? 'trials' : `trials of ${group}`)
  add('pause', 'Start no trials of a group (provider/model), or of all groups.')
    .argument('[group]', 'as `gantry queue status` shows it; default: all')
    .option('--for <duration>', 'how long, for example 2h', duration)
    .action(
      act(async (queue, group, { for: ms = null }) => {
        await queue.pause(group ?? '*', ms, 'paused by a person')
        return `No ${trialsOf(group)} start ${ms === null ? 'until "gantry queue resume"' : `for ${formatDuration(ms)}`}.`
      }),
    )
  add('resume', 'End a pause.')
    .argument('[group]', 'default: all')
    .action(
      act(async (queue, group) => {
        for (const pause of group === undefined ? await queue.pauses() : [{ group }])
          await queue.resume(pause.group)
        return `Resumed ${trialsOf(group)}.`
      }),
    )
  add('limit', 'Set how many trials of a group (provider/model) run at a time on all machines together.')
    .argument('<group>', 'as `gantry queue status` shows it')
    .argument('<most>', 'a whole number, or "none"', (text) => (text === 'none' ? null : count(text)))
    .action((group: string, most: number | null, flags: QueueFlags) =>
      withQueue(flags, context, async (queue) => {
        await queue.limit(group, most)
        print(flags, null, [
          `Trials of ${group} run ${most === null ? 'without a limit' : `at most ${most} at a time`}.`,
        ])
      }),
    )
  add('stop', 'Start no further trial of a run. Those under way finish.')
    .argument('<run>', 'a run id')
    .action(
      act(
        async (queue, run = '') =>
          `Stopped ${counted(await queue.stop(run, 'the run was stopped'), 'trial')}.`,
      ),
    )
  add('drain', 'Ask workers to finish what they have and end.')
    .argument('[worker]', 'as `gantry queue workers` shows it; default: all')
    .action(
      act(async (queue, worker) => {
        const asked = await queue.drain(worker ?? null)
        if (asked > 0 || worker === undefined) return `Asked ${counted(asked, 'worker')}.`
        throw new GantryError('NOT_FOUND', `the queue has no worker ${JSON.stringify(worker)}`, {
          hint: 'See "gantry queue workers".',
        })
      }),
    )
  add('retry', 'Queue trials of a run again that were not run or failed for infrastructure reasons.')
    .argument('<run>', 'a run id')
    .action(act(async (queue, run = '') => `Queued ${counted(await queue.retry(run), 'trial')} again.`))
  return command
}

/** The queue for the page, opened when it is first looked at, and again after the server was away; null when none was named. */
export function watchedQueue(flags: QueueFlags, context: CliContext) {
  if ((flags.queue ?? context.env.GANTRY_QUEUE ?? '') === '') return null
  let opened: Promise<TrialQueue> | null = null
  const status = async (): Promise<QueueStatus> => {
    const { queueStatus } = await import('../store/trial-queue/why-waiting.ts')
    opened ??= openQueue(flags, context)
    const queue = await opened.catch((error: unknown) => {
      opened = null
      throw error
    })
    return queueStatus(queue)
  }
  return { queueStatus: status, close: async () => (await opened)?.close() }
}

/** `isPatient`: waits while the server is away, instead of losing what was paid for. */
export async function withQueue<T>(
  flags: QueueFlags,
  context: CliContext,
  work: (queue: TrialQueue) => Promise<T>,
  isPatient = false,
): Promise<T> {
  const { patient } = await import('../store/trial-queue/open-trial-queue.ts')
  const queue = await openQueue(flags, context)
  const note = (message: string): void => context.stderr.write(`${message}\n`)
  try {
    return await work(isPatient ? patient(queue, context.signal, note) : queue)
  } finally {
    await queue.close()
  }
}

async function openQueue(flags: QueueFlags, { cwd, env }: CliContext): Promise<TrialQueue> {
  const { openTrialQueue } = await import('../store/trial-queue/open-trial-queue.ts')
  const [address, blobs] = [flags.queue ?? env.GANTRY_QUEUE, flags.blobs ?? env.GANTRY_BLOBS]
  if (address !== undefined && address !== '')
    return await openTrialQueue(address, { cwd, env, ...(blobs !== undefined && blobs !== '' && { blobs }) })
  throw new GantryError('USAGE', 'no queue was named', {
    hint: 'Add --queue postgres://…, or set GANTRY_QUEUE.',
  })
}
