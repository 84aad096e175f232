import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ChildExit, ChildRequest } from './child.ts'
import { addStarter } from './process-tree.ts'
import { countStart, needsServer, needsServerSoon } from './spawn-count.ts'
import type { SpawnOrder, SpawnReply } from './spawn-protocol.ts'

export interface RemoteChild {
  readonly pid: number
  readonly exit: Promise<ChildExit>
}

/**
 * Lets the spawn server start a program. null when the caller must do it itself: there is no server yet, none can be started
 * on this machine, or it could not start the program, in which case the caller finds out why.
 */
export async function spawnElsewhere(
  { argv: [file, ...args], cwd, env, endsWithUs = false }: ChildRequest,
  stdio: SpawnOrder['stdio'],
): Promise<RemoteChild | null> {
  const count = countStart()
  if (!needsServerSoon() && !endsWithUs) return null
  prepareSpawning()
  if (!needsServer() && !endsWithUs) return null
  return servers?.[count % 2]?.start({ file, args, cwd, env, stdio }) ?? null
}

/** Makes the servers now, for a caller that knows that it will need them: they take a moment to be ready. */
export function prepareSpawning(): void {
  servers ??= [openServer(), openServer()]
}

/** Two, so that the exit of one program is not reported late because another is just being started. */
let servers: readonly (SpawnServer | null)[] | undefined

interface SpawnServer {
  start(order: Omit<SpawnOrder, 'id'>): Promise<RemoteChild | null>
}

interface Ordered {
  readonly started: (child: RemoteChild | null) => void
  readonly exited: (exit: ChildExit) => void
  readonly exit: Promise<ChildExit>
}

function openServer(): SpawnServer | null {
  if (process.platform !== 'linux') return null
  const orders = new Map<number, Ordered>()
  const helper = forkServer()
  let isOpen = true
  let lastId = 0

  const close = (): void => {
    isOpen = false
    for (const { started, exited } of orders.values()) {
      started(null)
      // Its end cannot be learnt any more. Whatever is left of it is found and ended as after any exit.
      exited({ kind: 'exit', code: null, signal: 'SIGKILL', at: performance.now() })
    }
    orders.clear()
  }
  const take = (reply: SpawnReply): void => {
    const order = orders.get(reply.id)
    if (order === undefined) return
    if (reply.kind === 'started') {
      order.started({ pid: reply.pid, exit: order.exit })
      return
    }
    orders.delete(reply.id)
    // Nobody waits for us while nothing runs: the process may end.
    if (orders.size === 0) helper.channel?.unref()
    if (reply.kind === 'failed') order.started(null)
    else order.exited({ kind: 'exit', code: reply.code, signal: reply.signal, at: performance.now() })
  }
  helper
    .on('message', (reply) => take(reply as SpawnReply))
    .on('exit', close)
    .on('error', close)
  helper.on('disconnect', close)
  if (helper.pid !== undefined) addStarter(helper.pid)
  // It would go by itself when it finds us gone, but one that is just being made ready finds out late.
  process.once('exit', () => helper.kill())
  helper.unref()
  helper.channel?.unref()

  return {
    start: (order) => {
      if (!isOpen) return Promise.resolve(null)
      lastId += 1
      const id = lastId
      const { promise: exit, resolve: exited } = Promise.withResolvers<ChildExit>()
      const { promise, resolve: started } = Promise.withResolvers<RemoteChild | null>()
      orders.set(id, { started, exited, exit })
      helper.channel?.ref()
      helper.send({ id, ...order } satisfies SpawnOrder, (error) => {
        if (error !== null) close()
      })
      return promise
    },
  }
}

function forkServer(): ChildProcess {
  const isSource = import.meta.url.endsWith('.ts')
  const entry = new URL(isSource ? './spawn-server.ts' : '../spawn-server.js', import.meta.url)
  return fork(fileURLToPath(entry), [], {
    // Away from our terminal: Ctrl-C is for us, and what becomes of the children is ours to say.
    detached: true,
    env: {},
    // Not ours: a directory that is a process's working directory cannot be unmounted.
    cwd: '/',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}
