// node bench/queue-simulation.ts: how busy workers are, by the real queue on PostgreSQL where that is possible and by a model of it
// with a virtual clock where it is not. The table is in docs/scaling.md.
import { setTimeout as sleep } from 'node:timers/promises'
import type { NewQueuedTrial, TrialQueue } from '../src/store/trial-queue/contract.ts'
import { openTrialQueue } from '../src/store/trial-queue/open-trial-queue.ts'
import { startPostgres } from '../test/support/postgres-server.ts'

const need = { agent: 'a', labels: [], memoryMb: 0, gantry: '1' }
const pollMs = 500

async function filled(queue: TrialQueue, count: number): Promise<void> {
  const trials = function* (): Generator<NewQueuedTrial> {
    for (let index = 0; index < count; index += 1)
      yield { id: `t${index}`, spec: '{}', need, group: 'p/m', expectedUsd: null }
  }
  await queue.submit({
    ...{ id: 'r', planHash: 'h', document: '{}', project: 'p', capUsd: null, priority: 0 },
    trials: { [Symbol.iterator]: trials },
  })
}

/** Workers that only wait, on the real queue. Returns trials per second. */
async function real(url: string, workers: number, trialMs: number, count: number): Promise<number> {
  const queue = await openTrialQueue(url)
  await filled(queue, count)
  const started = performance.now()
  const slot = async (): Promise<void> => {
    for (;;) {
      const [claim] = await queue.claim('w', () => true)
      if (claim === undefined) return
      if (trialMs > 0) await sleep(trialMs)
      const outcome = { record: '{}', archive: Buffer.alloc(2_000), costUsd: null }
      await queue.complete([{ claim, outcome }])
    }
  }
  await Promise.all(Array.from({ length: workers }, slot))
  const perSecond = count / ((performance.now() - started) / 1000)
  await queue.close()
  return perSecond
}

/**
 * The model: the database does one trial (its claim and its end) after the other, `serviceMs` each, and workers wait in line. Half of the
 * work is the claim, half the end. Returns trials per second over `count` trials of a virtual clock.
 */
function simulate(workers: number, trialMs: number, count: number, serviceMs: number): number {
  const half = serviceMs / 2
  let [databaseFree, taken, ended, last] = [0, 0, 0, 0]
  // Times at which a slot wants the database next, as a heap by time.
  const heap: { at: number; kind: 'claim' | 'end' }[] = []
  const push = (item: (typeof heap)[number]): void => {
    heap.push(item)
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1
      const [one, other] = [heap[at], heap[parent]]
      if (one === undefined || other === undefined || one.at >= other.at) break
      heap[at] = other
      heap[parent] = one
      at = parent
    }
  }
  const pop = (): (typeof heap)[number] | undefined => {
    const [first] = heap
    const end = heap.pop()
    if (end === undefined || heap.length === 0) return first
    heap[0] = end
    for (let at = 0; ; ) {
      const child = [2 * at + 1, 2 * at + 2]
        .filter((index) => index < heap.length)
        .sort((a, b) => (heap[a]?.at ?? 0) - (heap[b]?.at ?? 0))[0]
      const [one, other] = [heap[at], child === undefined ? undefined : heap[child]]
      if (child === undefined || one === undefined || other === undefined || one.at <= other.at) break
      heap[at] = other
      heap[child] = one
      at = child
    }
    return first
  }
  // Workers that start together ask at different times.
  for (let index = 0; index < workers; index += 1) push({ at: (index / workers) * pollMs, kind: 'claim' })
  for (let next = pop(); next !== undefined && ended < count; next = pop()) {
    const done = Math.max(next.at, databaseFree) + half
    if (next.kind === 'claim' && taken >= count) continue
    databaseFree = done
    if (next.kind === 'claim') {
      taken += 1
      push({ at: done + trialMs, kind: 'end' })
    } else {
      ended += 1
      last = done
      push({ at: done, kind: 'claim' })
    }
  }
  return ended / (last / 1000)
}

const server = await startPostgres()
const most = Math.max(
  await real(await server.database(), 8, 0, 1_000),
  await real(await server.database(), 16, 0, 1_000),
)
const serviceMs = 1000 / most
console.log(`the database does ${most.toFixed(0)} trials per second`)
console.log('check of the model: slots, trial, trials per second measured, modelled')
for (const [slots, trialMs] of [
  [4, 200],
  [16, 500],
  [64, 2_000],
] as const) {
  const count = slots * 10
  const measured = await real(await server.database(), slots, trialMs, count)
  console.log(slots, trialMs, measured.toFixed(1), simulate(slots, trialMs, count, serviceMs).toFixed(1))
}
await server.stop()
console.log('slots, seconds of a trial, utilisation')
for (const slots of [10, 100, 1_000, 4_000])
  for (const seconds of [1, 10, 60, 600]) {
    const perSecond = simulate(slots, seconds * 1000, slots * 20, serviceMs)
    console.log(slots, seconds, `${((100 * perSecond * seconds) / slots).toFixed(1)}%`)
  }
