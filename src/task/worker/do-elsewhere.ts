import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { GantryError } from '../../core/error.ts'
import { defined, parseJson } from '../../core/json-fields.ts'
import { version } from '../../core/version.ts'
import { monotonicMs, systemClock } from '../../io/clock.ts'
import { makeDirectories } from '../../io/directory.ts'
import { removeTree } from '../../io/files.ts'
import { moveEntries } from '../../io/move-entries.ts'
import { packProject } from '../../io/pack-project.ts'
import { packTree } from '../../io/pack-tree.ts'
import { isDirectory } from '../../io/path-kind.ts'
import type { Store } from '../../store/contract.ts'
import type {
  FinalState,
  NewTask,
  TaskChange,
  TaskEndRecord,
  TaskQueue,
  TaskRecord,
} from '../../store/queue/contract.ts'
import { parseRunId } from '../../store/run-id.ts'
import type { SettledTrial, TrialQueue } from '../../store/trial-queue/contract.ts'
import { openTrialQueue, patient } from '../../store/trial-queue/open-trial-queue.ts'
import { unpackBlob } from '../../store/trial-queue/unpack-blob.ts'
import { whyWaiting } from '../../store/trial-queue/why-waiting.ts'
import type { TaskEvent } from '../contract.ts'
import { taskEvents } from '../task-events.ts'
import { shutdown } from '../task-request.ts'
import { type BundledRepository, bundleRepository } from './bundle-repository.ts'
import { taskOptionsSchema } from './submit-task.ts'

/** What a worker needs of a task, besides the files of its repository. */
export interface TaskDocument {
  readonly title: string
  /** Paths on the machine of the submitter. Results have them in place of those of the worker. */
  readonly repository: string
  readonly store: string
  readonly task: NewTask
  readonly git: BundledRepository<string> | null
  /** The run that the task continues. */
  readonly earlier: { readonly id: string; readonly archive: string } | null
}

/** What a worker reports while it works. */
export interface WorkerNote {
  readonly event?: TaskEvent
  readonly change?: TaskChange
}

export type SubmitterNote = { readonly told: TaskEvent } | { readonly cancel: true }

interface Submitter {
  readonly store: Store
  readonly queue: TaskQueue
  readonly env: Readonly<Record<string, string | undefined>>
}

const pollMs = 500
/** How often to ask why the task waits. */
const lookMs = 5_000
/** Before runs of trials: a task is for a person. */
const priority = 2

/**
 * Lets a worker of a queue do the task, and passes on what it reports. Its run directories arrive in the store of this machine, so
 * that everything after the end is the same as for a task that was done here. A task that was submitted before is followed further.
 */
export async function doElsewhere(
  task: TaskRecord,
  { store, queue: tasks, env }: Submitter,
  signal: AbortSignal,
  emit: (event: TaskEvent) => void,
  notRun: (why: string, state: FinalState) => TaskEndRecord,
): Promise<TaskEndRecord> {
  const { queue: shown = '', blobs } = taskOptionsSchema.parse(task.options)
  const warn = (message: string): void =>
    emit({
      ts: systemClock.now().getTime() / 1000,
      task_id: task.id,
      kind: 'note',
      level: 'warning',
      message,
    })
  const opened = await openTrialQueue(addressOf(shown, env), { env, ...defined({ blobs }) })
  const queue = patient(opened, signal, warn)
  try {
    if ((await queue.run(task.id)) === null) await submit(task, store, queue)
    const settled = await follow(task, tasks, queue, { signal, emit, warn })
    if (settled.record === null)
      return notRun(settled.why ?? '', signal.aborted ? 'CANCELLED' : 'INFRA_ERROR')
    const { run_ids, task_run_id, current_attempt, state, summary, error_message } = parseJson(
      settled.record,
    ) as TaskRecord
    const arriving = join(store.root, `arriving-${task.id}`)
    removeTree(arriving)
    const missing = await unpackBlob(settled, arriving, queue)
    if (missing !== null) {
      removeTree(arriving)
      return notRun(`its files are lost: ${missing}`, 'INFRA_ERROR')
    }
    makeDirectories(store.runsDir)
    moveEntries(arriving, store.runsDir, (name) => parseRunId(name) !== null)
    removeTree(arriving)
    tasks.update(task.id, { run_ids, task_run_id, current_attempt, summary })
    return { state: state as FinalState, summary, error_message }
  } finally {
    await opened.close()
  }
}

/** A password is not stored with the task. */
export function withoutPassword(address: string): string {
  return address
    .replace(/^(postgres(?:ql)?:\/\/[^/@:]*):[^/?]*@/, '$1@')
    .replace(/([?&])password=[^&]*&?/, '$1')
}

function addressOf(shown: string, { GANTRY_QUEUE: own = '' }: Submitter['env']): string {
  return withoutPassword(own) === shown ? own : shown
}

async function submit(task: TaskRecord, store: Store, queue: TrialQueue): Promise<void> {
  const { id, repository, description, dry_run, verbose } = task
  const { queue: _, blobs: __, apply: ___, ...options } = taskOptionsSchema.parse(task.options)
  const { agent, model, sandbox, max_cost_usd, config_file, proposal_of, retry_of } = options
  const earlier = proposal_of ?? retry_of
  const earlierDir = join(store.runsDir, earlier ?? '')
  const git = await bundleRepository(repository)
  const [title = ''] = description.trim().split('\n')
  const document: TaskDocument = {
    title,
    repository,
    store: store.root,
    task: {
      ...{ id, repository: '', description, dryRun: dry_run, verbose },
      options: {
        ...options,
        ...(config_file !== undefined && { config_file: relative(repository, config_file) }),
      },
    },
    git: git === null ? null : { ...git, bundle: await queue.put(git.bundle) },
    earlier:
      earlier === undefined || !isDirectory(earlierDir)
        ? null
        : { id: earlier, archive: await queue.put(packTree(earlierDir)) },
  }
  await queue.submit({
    id,
    planHash: id,
    document: JSON.stringify(document),
    project: await queue.put(await packProject(repository)),
    capUsd: max_cost_usd ?? null,
    priority,
    trials: [
      {
        id,
        spec: '{}',
        group: model === 'default' ? `${agent}/default` : model.replace(':', '/'),
        need: {
          agent,
          labels: sandbox === 'docker' || sandbox === 'bubblewrap' ? [sandbox] : [],
          memoryMb: 0,
          gantry: version,
        },
        expectedUsd: null,
      },
    ],
  })
}

interface Following {
  readonly signal: AbortSignal
  readonly emit: (event: TaskEvent) => void
  readonly warn: (message: string) => void
}

/** Passes events of the worker on to the feed, and messages of the user to the worker, until there is a result. */
async function follow(
  { id }: TaskRecord,
  tasks: TaskQueue,
  queue: TrialQueue,
  { signal, emit, warn }: Following,
): Promise<SettledTrial> {
  const feed = [...taskEvents(tasks, id)].map(({ event }) => event)
  const passed = new Set(feed.map((event) => JSON.stringify(event)))
  const say = (...notes: SubmitterNote[]): Promise<void> =>
    queue.tell(
      id,
      0,
      notes.map((note) => JSON.stringify(note)),
    )
  const said = await queue.notes(id, { attempt: 0, no: 0 }, 10_000)
  let told = said.filter(({ attempt, text }) => attempt === 0 && 'told' in (parseJson(text) as object)).length
  const pass = ({ event, change }: WorkerNote): void => {
    if (event !== undefined && !passed.has(JSON.stringify(event))) emit(event)
    if (change !== undefined) tasks.update(id, change)
  }
  const known = new Set<string>()
  let place = { attempt: 0, no: said.length }
  let [isCancelled, lookAt] = [false, 0]
  for (;;) {
    if (signal.aborted && signal.reason === shutdown)
      throw new GantryError('INTERRUPTED', 'it was interrupted')
    if (signal.aborted && !isCancelled) {
      isCancelled = true
      await say({ cancel: true })
      await queue.stop(id, 'it was cancelled')
    }
    const messages = [...taskEvents(tasks, id)].flatMap(({ event }) =>
      event.kind === 'told' ? [{ told: event }] : [],
    )
    if (messages.length > told) await say(...messages.slice(told))
    told = messages.length
    const [settled] = await queue.results(id, 0, 1)
    for (;;) {
      const notes = await queue.notes(id, place, 500)
      for (const { attempt, no, text } of notes) {
        if (attempt > Math.max(1, place.attempt))
          warn('The worker of the task was lost. Another one starts it again.')
        place = { attempt, no }
        if (attempt > 0) pass(parseJson(text) as WorkerNote)
      }
      if (notes.length === 0) break
    }
    if (settled !== undefined) return settled
    if (monotonicMs() >= lookAt) {
      lookAt = monotonicMs() + lookMs
      for (const { why } of await whyWaiting(queue, id)) {
        if (!known.has(why)) warn(`The task cannot start: ${why}`)
        known.add(why)
      }
    }
    await sleep(pollMs, undefined, isCancelled ? {} : { signal }).catch(() => {})
  }
}
