import { once } from 'node:events'
import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { loadProject } from '../config/load.ts'
import { parseDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { createRedaction } from '../core/redaction.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { isDirectory } from '../io/path-kind.ts'
import { realPath } from '../io/resolve-links.ts'
import { accessLog } from '../server/access-log.ts'
import { isLoopback } from '../server/check-access.ts'
import type { TaskSubmitter } from '../server/handlers.ts'
import { type GantryServer, openServer } from '../server/open-server.ts'
import { pageDirectory } from '../server/page-files.ts'
import { type ServeToken, serveToken } from '../server/serve-token.ts'
import { atRest } from '../server/served-tasks.ts'
import type { Store } from '../store/contract.ts'
import type { QueuedTask, TaskQueue } from '../store/queue/contract.ts'
import { applyChange, commitChange, dropChange } from '../task/apply-change.ts'
import { checkSubmission } from '../task/validate-start.ts'
import type { WorkerContext } from '../task/worker/do-task.ts'
import { continuedSubmission, submitTask, type TaskSubmission } from '../task/worker/submit-task.ts'
import { workOnQueue } from '../task/worker/work-on-queue.ts'
import type { CliContext } from './context.ts'
import { watchedQueue, withQueue } from './queue.ts'
import { repositoryOf } from './task/task-flags.ts'
import { withTaskQueue } from './task/task-queue.ts'
import { queueOptions, withQueueAddress } from './task/task-submission.ts'

export interface ServeFlags {
  readonly host: string
  readonly port: number
  readonly allowHost?: readonly string[]
  readonly repository?: readonly string[]
  readonly tokenFile?: string
  readonly hostSandbox?: boolean
  readonly parallel: number
  readonly log: 'text' | 'json' | 'none'
  readonly json?: boolean
  readonly queue?: string
  readonly blobs?: string
}

/** Tasks of a repository that are followed at the same time. Following one costs little. */
const followedMost = 16

/** `gantry serve`, after parsing the flags. Returns when it was stopped and everything it started has ended. */
export async function serveTasks(flags: ServeFlags, given: CliContext): Promise<void> {
  const context = withQueueAddress(given, flags)
  const repositories = repositoriesOf(flags, context)
  const elsewhere = await queueOptions(context, flags)
  // What is wrong with the queue is reported at once.
  if (flags.queue !== undefined) await withQueue(flags, context, async () => {})
  return withTaskQueue(context, async (queue, store) => {
    const { env, cwd, signal, stderr } = context
    const { host, port, tokenFile, allowHost = [] } = flags
    const token = serveToken({ env, cwd, root: store.root, ...defined({ file: tokenFile }) })
    refuseOpenHouse(host, token)
    const watched = watchedQueue(flags, context)
    const server = await openServer({
      ...{ host, port, token: token.token, allowHosts: allowHost, repositories, queue, store },
      submitter: taskSubmitter(context, queue, store, flags.hostSandbox, elsewhere),
      project: loadProject(cwd).root,
      guardHome: guardHome(env),
      queueStatus: watched?.queueStatus,
      log: accessLog({
        format: flags.log,
        write: stderr.write,
        redaction: createRedaction([], env, { GANTRY_SERVE_TOKEN: token.token }),
        now: store.clock.now,
      }),
    })
    // If one side ends, the other one ends too.
    const stop = new AbortController()
    const go = AbortSignal.any([signal, stop.signal])
    const working = Promise.all(
      repositories
        .flatMap((one) => Array<string>(flags.queue === undefined ? flags.parallel : followedMost).fill(one))
        .map((repository) =>
          keepWorking(repository, go, { queue, store, env, argv: ['gantry', 'task'] }, context),
        ),
    )
    working.catch(() => stop.abort())
    announce(server, token, repositories, flags, context)
    if (!go.aborted) await once(go, 'abort')
    await server.close()
    await watched?.close()
    await working
  })
}

const pauseMs = 5_000

/** A full disk stops a worker, not the server: the task continues when there is space again. */
async function keepWorking(
  repository: string,
  signal: AbortSignal,
  worker: WorkerContext,
  { stderr }: CliContext,
): Promise<void> {
  while (!signal.aborted)
    try {
      await workOnQueue({ repository, until: 'stopped', signal }, worker)
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      stderr.write(`The worker stopped: ${error.message}. It restarts in ${pauseMs / 1000} s.\n`)
      await wait(pauseMs, undefined, { signal }).catch(() => {})
    }
}

function repositoriesOf({ repository }: ServeFlags, context: CliContext): readonly string[] {
  if (repository === undefined) return [repositoryOf(context, {})]
  const named = repository.map((one) => resolve(context.cwd, one))
  const [missing] = named.filter((one) => !isDirectory(one))
  if (missing !== undefined)
    throw new GantryError('NOT_FOUND', `${missing} is not a directory`, {
      hint: 'Name existing repositories with --repository.',
    })
  return [...new Set(named.map(realPath))]
}

/** A token in the store of this machine is only meant for this machine. */
function refuseOpenHouse(host: string, { isGiven }: ServeToken): void {
  if (isLoopback(host) || isGiven) return
  throw new GantryError('USAGE', `${host} can be reached from other machines, but no token was given`, {
    hint: 'Set one with --token-file FILE or GANTRY_SERVE_TOKEN, for example from: openssl rand -hex 32',
  })
}

function announce(
  { url, port, newCode }: GantryServer,
  { where }: ServeToken,
  repositories: readonly string[],
  { json }: ServeFlags,
  { stdout }: CliContext,
): void {
  const lines = [
    `Listening on ${url}`,
    `The token is in ${where}`,
    ...repositories.map((repository) => `Serving ${repository}`),
    ...(pageDirectory() === null ? [] : [`The page, for a minute: ${url}/#code=${newCode().code}`]),
  ]
  const text = json === true ? JSON.stringify({ url, port, token: where, repositories }) : lines.join('\n')
  stdout.write(`${text}\n`)
}

/** Tasks received over HTTP: checked like those of the command line, and queued. */
export function taskSubmitter(
  context: Pick<CliContext, 'env' | 'signal'>,
  queue: TaskQueue,
  store: Store,
  isHostAllowed = false,
  elsewhere: TaskSubmission['options'] = {},
): TaskSubmitter {
  const queued = async (asked: TaskSubmission): Promise<QueuedTask> => {
    const submission = { ...asked, options: { ...asked.options, ...elsewhere } }
    if (submission.options.sandbox === 'host' && !isHostAllowed)
      throw new GantryError('USAGE', 'this server does no task without a sandbox', {
        hint: 'Choose another sandbox, or start gantry serve with --host-sandbox.',
      })
    await checkSubmission(submission, context)
    return submitTask(queue, submission, createRedaction([], context.env))
  }
  const place = { store, queue, env: context.env }
  const known = (id: string): QueuedTask => {
    const task = queue.get(id)
    if (task === null) throw new GantryError('NOT_FOUND', `there is no task ${id}`)
    return atRest(task)
  }
  const settled = async (id: string, fate: 'applied' | 'undone' | 'dropped'): Promise<QueuedTask> => {
    const task = known(id)
    if (fate === 'dropped') dropChange(place, task)
    else await applyChange(place, task, fate)
    return task
  }
  return {
    submit: ({ description, repository, dry_run, verbose, questions, ...rest }) => {
      const answer_timeout_ms = questions === undefined ? undefined : (parseDuration(questions) ?? undefined)
      const options = defined({ ...rest, answer_timeout_ms })
      return queued({ repository, description, dryRun: dry_run, verbose, options })
    },
    retry: (id) => queued(continuedSubmission('retry', known(id))),
    apply: (id) =>
      known(id).dry_run ? queued(continuedSubmission('apply', known(id))) : settled(id, 'applied'),
    undo: (id) => settled(id, 'undone'),
    drop: (id) => settled(id, 'dropped'),
    commit: async (id, request) => ({
      task_id: id,
      ...(await commitChange(place, known(id), defined(request))),
    }),
  }
}
