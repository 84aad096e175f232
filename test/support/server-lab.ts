import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createRedaction } from '../../src/core/redaction.ts'
import { digestSecret } from '../../src/io/secret.ts'
import { type AccessLog, accessLog } from '../../src/server/access-log.ts'
import { createApp } from '../../src/server/create-app.ts'
import { type HandlerOptions, handlers, type TaskSubmitter } from '../../src/server/handlers.ts'
import { pageSession } from '../../src/server/page-session.ts'
import { servedTasks } from '../../src/server/served-tasks.ts'
import type { Store } from '../../src/store/contract.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { TaskQueue } from '../../src/store/queue/contract.ts'
import { openQueue } from '../../src/store/queue/open-queue.ts'
import { continuedSubmission, submitTask } from '../../src/task/worker/submit-task.ts'

export const labToken = 'token-of-the-laboratory'

/** A store, a queue and two repositories of which one is served, for the tests of the server. */
export interface ServerLab {
  readonly root: string
  readonly store: Store
  readonly queue: TaskQueue
  readonly repository: string
  readonly other: string
  readonly submitter: TaskSubmitter
  readonly log: AccessLog
  readonly logged: string[]
  /** Queues a task of the served repository. */
  submit(description?: string): string
  /** Queues one and claims it, so that it can be ended. */
  begin(description?: string): string
}

/** Gone with the test, or when `atEnd` says so. */
export function openServerLab(
  format: 'text' | 'json' = 'json',
  atEnd: (clean: () => void) => void = onTestFinished,
): ServerLab {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-server-')))
  const store = openStore({ env: {}, cwd: root, root: join(root, 'store') })
  const queue = openQueue(store)
  atEnd(() => {
    queue.close()
    rmSync(root, { recursive: true, force: true })
  })
  const [repository, other] = [join(root, 'app'), join(root, 'other')]
  for (const directory of [repository, other]) mkdirSync(directory)
  const logged: string[] = []
  const submit = (description = 'Add a flag'): string => submitTask(queue, { repository, description }).id
  return {
    root,
    store,
    queue,
    repository,
    other,
    submitter: submitterOf(queue),
    logged,
    log: accessLog({
      format,
      write: (line) => logged.push(line),
      redaction: createRedaction([], { LAB_TOKEN: labToken }),
      now: () => new Date(0),
    }),
    submit,
    begin(description) {
      const id = submit(description)
      queue.claim({ repository })
      return id
    },
  }
}

/** As `gantry serve` has it, but for the look at agent, model and sandbox. */
function submitterOf(queue: TaskQueue): TaskSubmitter {
  const taskOf = (id: string) => {
    const task = queue.get(id)
    if (task === null) throw new Error(`${id} was there a moment ago`)
    return { ...task, position: null, abandoned: false }
  }
  const again = (how: 'apply' | 'retry', id: string) =>
    submitTask(queue, continuedSubmission(how, taskOf(id)))
  return {
    submit: ({ description, repository, dry_run: dryRun, verbose }) =>
      submitTask(queue, { description, repository, dryRun, verbose }),
    retry: (id) => again('retry', id),
    apply: (id) => again('apply', id),
    undo: async (id) => taskOf(id),
    drop: async (id) => taskOf(id),
    commit: async (id, { branch = 'gantry/x' }) => ({
      ...{ task_id: id, branch, commit: 'c0ffee', title: 'Add a flag', body: '' },
    }),
  }
}

/** The application of a lab without a socket, and a way to ask it. `isView`: as `gantry view` has it. */
export function labApp(
  { root, queue, store, repository, submitter, log }: ServerLab,
  isView = false,
  project: string | null = null,
  queueStatus?: HandlerOptions['queueStatus'],
) {
  const session = pageSession(labToken, () => ({ host: 'localhost', port: 7777 }), store.clock)
  const app = createApp({
    access: {
      token: digestSecret(labToken),
      isOwnHost: (host) => host === 'localhost',
      isSignedIn: session.isSignedIn,
    },
    handlers: handlers({
      queue,
      store,
      submitter: isView ? null : submitter,
      session,
      runs: { store, project },
      guardHome: join(root, 'guard'),
      queueStatus,
      tasks: servedTasks(queue, isView ? null : [repository]),
    }),
    log,
    page: new Map(),
    stream: () => {},
  })
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    Promise.resolve(
      app.request(path, {
        ...init,
        headers: { host: 'localhost', authorization: `Bearer ${labToken}`, ...init.headers },
      }),
    )
  const post = (path: string, body?: unknown): Promise<Response> =>
    ask(path, {
      method: 'POST',
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    })
  return { app, ask, post, session }
}
