import { fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openServer } from '../src/server/open-server.ts'
import { openStore } from '../src/store/open-store.ts'
import { openQueue } from '../src/store/queue/open-queue.ts'
import { submitTask } from '../src/task/worker/submit-task.ts'
import { type Figure, inMemory, inTemporary } from './figure.ts'
import type { SseReport } from './sse-clients.ts'

const clients = 1_000
const eventsPerSecond = 5_000
const seconds = 10
const tickMs = 10
/** Time after the last event; events that arrive later count as lost. */
const graceMs = 60_000
const token = 'token-of-the-benchmark'

/**
 * The server of `gantry serve`, with a worker in the same process that writes at a steady rate, and clients in
 * their own process that compare every byte.
 */
export function sseClients(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const store = openStore({ env: {}, cwd: directory, root: directory })
    const queue = openQueue(store)
    const { id } = submitTask(queue, { repository: directory, description: 'Measure' })
    const server = await openServer({
      host: '127.0.0.1',
      port: 0,
      token,
      allowHosts: [],
      repositories: [directory],
      queue,
      store,
      guardHome: directory,
      submitter: null,
      log: { request: () => {}, failure: (error) => console.error(error) },
    })
    const firstId = queue.lastEventId() + 1
    const total = eventsPerSecond * seconds
    const watchers = fork(join(import.meta.dirname, 'sse-clients.ts'), [
      JSON.stringify({ port: server.port, token, clients, firstId, total, graceMs }),
    ])
    try {
      await answer(watchers, 'ready')
      const before = process.cpuUsage()
      const began = performance.now()
      for (let sent = 0; sent < total; ) {
        const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * eventsPerSecond))
        for (; sent < due; sent += 1) queue.append(id, sample(id, sent), 'milestone')
        await sleep(tickMs)
      }
      const writtenMs = performance.now() - began
      watchers.send('written')
      const report = await answer<SseReport>(watchers, 'report')
      const arrivedMs = performance.now() - began
      const { user, system } = process.cpuUsage(before)
      const { complete, wrong, cpuMs, bytes } = report
      return {
        name: `${clients} clients of server-sent events, ${eventsPerSecond} events/s for ${seconds} s`,
        limit: 'none lost, none out of order, at the rate they were written',
        ratio: complete / clients,
        // Events that arrive late mean that the rate was not kept.
        ok: complete === clients && wrong === 0 && arrivedMs <= seconds * 1_000 * 1.2,
        detail: {
          complete,
          wrong,
          writtenMs,
          arrivedMs,
          serverCpuMs: (user + system) / 1_000,
          clientsCpuMs: cpuMs,
          megabytes: bytes / 1e6,
          megabytesPerSecond: bytes / 1e3 / arrivedMs,
        },
      }
    } finally {
      watchers.kill('SIGKILL')
      await server.close()
      queue.close()
    }
  }, inMemory)
}

/** Like a milestone of a task. */
function sample(taskId: string, n: number): object {
  return {
    ts: 1_760_000_000 + n,
    task_id: taskId,
    kind: 'milestone',
    milestone: 'verifying',
    text: 'Running verification...',
  }
}

function answer<T>(child: ReturnType<typeof fork>, kind: string): Promise<T> {
  return new Promise((done, fail) => {
    const hear = (message: unknown): void => {
      if (typeof message !== 'object' || message === null || !('kind' in message) || message.kind !== kind)
        return
      child.off('message', hear)
      done(message as T)
    }
    child.on('message', hear)
    child.once('exit', (code) => fail(new Error(`the clients ended with ${code} before they said ${kind}`)))
  })
}
