import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { asAmount, defined, parseJson } from '../../core/json-fields.ts'
import { directoriesIn, makeDirectories, readTextIfExists } from '../../io/directory.ts'
import { removeTree, writeFileAtomic } from '../../io/files.ts'
import { packTree, unpackTree } from '../../io/pack-tree.ts'
import { openStore } from '../../store/open-store.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import { openQueue } from '../../store/queue/open-queue.ts'
import type {
  ClaimEnding,
  LaneWork,
  QueuedRun,
  TrialClaim,
  TrialQueue,
} from '../../store/trial-queue/contract.ts'
import type { TaskEvent } from '../contract.ts'
import { shutdown } from '../task-request.ts'
import { validateStart } from '../validate-start.ts'
import { unbundleRepository } from './bundle-repository.ts'
import type { SubmitterNote, TaskDocument, WorkerNote } from './do-elsewhere.ts'
import { doTask } from './do-task.ts'
import { taskOptionsSchema } from './submit-task.ts'

export interface QueuedTaskContext {
  readonly queue: TrialQueue
  readonly env: Readonly<Record<string, string | undefined>>
  /** Its directory on this machine, empty or missing. */
  readonly root: string
  readonly signal: AbortSignal
}

const pollMs = 500

/** Unpacks the repository of a task and checks that it can start here. Throws GantryError with the reasons when it cannot. */
export async function openQueuedTask(queued: QueuedRun, context: QueuedTaskContext): Promise<LaneWork> {
  const { queue, env, root, signal } = context
  const document = parseJson(queued.document) as TaskDocument
  const repository = join(root, 'repository')
  removeTree(root)
  unpackTree(await queue.get(queued.project), repository)
  const { git, task } = document
  if (git !== null) await unbundleRepository(repository, { ...git, bundle: await queue.get(git.bundle) }, env)
  const options = taskOptionsSchema.parse(task.options)
  const configFile = options.config_file === undefined ? undefined : join(repository, options.config_file)
  const { agent, model, sandbox } = options
  const start = await validateStart({
    ...{ repository, description: task.description, agent, model, sandbox, env, signal },
    ...defined({ configFile }),
  })
  if (start.kind === 'refused')
    throw new GantryError(
      'USAGE',
      start.problems.map(({ what, message }) => `${what}: ${message}`).join('; '),
    )
  const spent = new Map<TrialClaim, number>()
  const homeOf = ({ tries }: TrialClaim): string => join(root, `try-${tries}`)
  return {
    run: (claim, stop) => {
      const own = {
        ...task,
        repository,
        options: {
          ...options,
          ...defined({ config_file: configFile, max_cost_usd: claim.limitUsd ?? undefined }),
        },
      }
      const pay = (usd: number): number => {
        spent.set(claim, (spent.get(claim) ?? 0) + usd)
        return spent.get(claim) ?? 0
      }
      return work({ ...document, task: own }, claim, { ...context, root: homeOf(claim), signal: stop }, pay)
    },
    spentUsd: async (claim) => spent.get(claim) ?? 0,
    clean: (claim) => {
      spent.delete(claim)
      removeTree(homeOf(claim))
    },
  }
}

/** The same life as on one machine, in a store and a queue of its own. */
async function work(
  { task, repository, store: submitterStore, earlier }: TaskDocument,
  claim: TrialClaim,
  { queue, env, root, signal }: QueuedTaskContext,
  /** Adds a cost and returns their sum. */
  pay: (usd: number) => number,
): Promise<ClaimEnding> {
  const store = openStore({ env: {}, cwd: root, root })
  makeDirectories(store.runsDir)
  const atHome = (text: string): string =>
    [
      [store.root, submitterStore],
      [task.repository, repository],
    ].reduce((said, [here = '', there = '']) => said.replaceAll(inJson(here), inJson(there)), text)
  const notes: string[] = []
  const note = (said: WorkerNote): void => void notes.push(atHome(JSON.stringify(said)))
  const tasks = openQueue(store)
  const observed: TaskQueue = {
    ...tasks,
    append: (id, event, level) => {
      const step = event as TaskEvent
      note({ event: step })
      if (step.kind === 'scout_query' || step.kind === 'edit') pay(step.cost_usd ?? 0)
      return tasks.append(id, event, level)
    },
    update: (id, change) => {
      const { current_attempt, phase } = change
      note({ change: defined({ current_attempt, phase }) })
      return tasks.update(id, change)
    },
  }
  const stop = new AbortController()
  const leave = (): void => stop.abort(shutdown)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  let heard = 0
  const exchange = async (): Promise<void> => {
    const said = notes.splice(0)
    if (said.length > 0) await queue.tell(claim.run, claim.tries, said)
    for (const { attempt, no, text } of await queue.notes(claim.run, { attempt: 0, no: heard }, 100)) {
      if (attempt > 0) break
      heard = no
      const asked = parseJson(text) as SubmitterNote
      if ('cancel' in asked) stop.abort()
      else tasks.append(claim.run, asked.told, 'milestone')
    }
  }
  let last: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    last = last.then(exchange).catch(() => {})
  }, pollMs)
  try {
    if (earlier !== null) unpackTree(await queue.get(earlier.archive), join(store.runsDir, earlier.id))
    tasks.submit(task)
    const claimed = tasks.claim()
    if (claimed === null) throw new Error('the task cannot be claimed')
    await doTask(
      claimed,
      { queue: observed, store, env, argv: ['gantry', 'work'], isCopy: true },
      stop.signal,
    )
    const record = tasks.get(claim.run)
    if (record === null || record.state === 'RUNNING') return { kind: 'interrupted' }
    clearInterval(timer)
    await last
    await exchange()
    if (earlier !== null) removeTree(join(store.runsDir, earlier.id))
    for (const id of directoriesIn(store.runsDir))
      for (const name of ['manifest.json', 'events.jsonl']) {
        const path = join(store.runsDir, id, name)
        const text = readTextIfExists(path)
        if (text !== null) writeFileAtomic(path, atHome(text))
      }
    const costUsd = asAmount(record.metrics?.cost_usd) ?? null
    const outcome = { record: atHome(JSON.stringify(record)), archive: packTree(store.runsDir), costUsd }
    return { kind: 'settled', outcome }
  } catch (error) {
    if (!(error instanceof GantryError) || error.code === 'QUEUE_UNAVAILABLE') throw error
    return { kind: 'refused', spentUsd: pay(0), why: error.message }
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', leave)
    tasks.close()
  }
}

function inJson(path: string): string {
  return JSON.stringify(path).slice(1, -1)
}
