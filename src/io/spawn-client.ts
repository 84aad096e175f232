import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ChildExit, ChildRequest } from './child.ts'
import { addStarter } from './process-tree.ts'
import { countSpawn, needsServer, needsServerSoon } from './spawn-count.ts'
import type { SpawnOrder, SpawnReply, SpawnWatch } from './spawn-protocol.ts'

export interface RemoteChild {
  readonly pid: number
  readonly exit: Promise<ChildExit>
}

/**
 * Starts a program through the spawn server. null when the caller must start it itself: there is no server yet, none can run on this
 * machine, or the server could not start the program (the caller then finds out why).
 */
export async function spawnElsewhere(
  { argv: [file, ...args], cwd, env, endsWithUs = false }: ChildRequest,
  stdio: SpawnOrder['stdio'],
): Promise<RemoteChild | null> {
  const count = countSpawn()
  if (!needsServerSoon() && !endsWithUs) return null
  prepareSpawning()
  if (!needsServer() && !endsWithUs) return null
  return servers?.[count % 2]?.start({ file, args, cwd, env, stdio }) ?? null
}

/** Starts the servers early, because they take a moment to be ready. */
export function prepareSpawning(): void {
  servers ??= [openServer(), openServer()]
}

/** If servers run, they end the process when this one is killed, or leave it alone when `mark` is null. */
export function endWithUs(watch: SpawnWatch): void {
  servers?.[0]?.watch(watch)
}

/** Two, so starting a program does not delay the exit report of another. */
let servers: readonly (NonNullable<ReturnType<typeof openServer>> | null)[] | undefined

interface Ordered {
  readonly started: (child: RemoteChild | null) => void
  readonly exited: (exit: ChildExit) => void
  readonly exit: Promise<ChildExit>
}

function openServer() {
  if (process.platform !== 'linux') return null
  const orders = new Map<number, Ordered>()
  const helper = forkServer()
  let isOpen = true
  let lastId = 0

  const close = (): void => {
    isOpen = false
    for (const { started, exited } of orders.values()) {
      started(null)
      // Its exit is unknown. Remaining processes are found and ended as after any exit.
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
    // Nothing runs, so the process may exit.
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
  // It exits when this process is gone, but notices late while it is still starting.
  process.once('exit', () => helper.kill())
  helper.unref()
  helper.channel?.unref()

  return {
    watch: (watch: SpawnWatch): void => void (isOpen && helper.send(watch, () => {})),
    start: (order: Omit<SpawnOrder, 'id'>): Promise<RemoteChild | null> => {
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
    // Detached from the terminal, so Ctrl-C reaches only this process, which decides about its children.
    detached: true,
    env: {},
    // Not this directory, because a process's working directory cannot be unmounted.
    cwd: '/',
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
}
