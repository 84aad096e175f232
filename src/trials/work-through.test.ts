import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TrialSlot } from './contract.ts'
import { workThrough } from './work-through.ts'

const signal = new AbortController().signal
const always = () => true

describe('workThrough', () => {
  test('processes every item once, within the concurrency limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        async (count, concurrency) => {
          let busy = 0
          let most = 0
          const done: number[] = []
          await workThrough(
            Array.from({ length: count }, (_, index) => index),
            {
              concurrency,
              signal,
              mayStart: always,
              work: async (item) => {
                busy += 1
                most = Math.max(most, busy)
                await Promise.resolve()
                done.push(item)
                busy -= 1
              },
            },
          )
          expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index))
          expect(most).toBeLessThanOrEqual(concurrency)
        },
      ),
    )
  })

  test('starts nothing after an interruption', async () => {
    const stop = new AbortController()
    const started: number[] = []
    const work = async (item: number) => {
      started.push(item)
      if (item === 2) stop.abort()
    }
    const mayStart = () => !stop.signal.aborted
    await workThrough([1, 2, 3, 4], { concurrency: 1, signal: stop.signal, mayStart, work })
    expect(started).toEqual([1, 2])
  })

  test('starts nothing that may not start', async () => {
    const started: number[] = []
    const work = async (item: number) => void started.push(item)
    await workThrough([1, 2], { concurrency: 1, signal, mayStart: () => false, work })
    expect(started).toEqual([])
  })

  test('throws an error of work even after an interruption', async () => {
    const stop = new AbortController()
    const work = async (): Promise<void> => {
      stop.abort()
      throw new Error('disk full')
    }
    const load = { concurrency: 1, signal: stop.signal, mayStart: always, work }
    await expect(workThrough([1], load)).rejects.toThrow('disk full')
  })

  test('other items run while one rests, and onAllParked waits for its end', async () => {
    const order: string[] = []
    const { promise: rested, resolve: wake } = Promise.withResolvers<void>()
    const { promise: answer, resolve } = Promise.withResolvers<void>()
    const wakeLater = async (): Promise<void> => {
      // Enough turns for a call that comes too early.
      for (let turn = 0; turn < 10; turn += 1) await nextTurn()
      order.push('woken')
      wake()
    }
    await workThrough(['rests', 'parks', 'runs'], {
      concurrency: 1,
      signal,
      mayStart: always,
      onAllParked: async () => {
        order.push('all parked')
        resolve()
      },
      work: async (item, slot) => {
        if (item === 'rests') await slot.rest(() => rested)
        if (item !== 'runs') await slot.park(() => answer)
        if (item === 'runs') void wakeLater()
        order.push(item)
      },
    })
    expect(order).toEqual(['runs', 'woken', 'all parked', 'parks', 'rests'])
  })

  test('gives up parked items after an error elsewhere', async () => {
    const failed = new AbortController()
    const work = async (_: number, slot: TrialSlot) => {
      setImmediate(() => failed.abort())
      await slot.park(() => new Promise(() => {}))
    }
    const onAllParked = () => new Promise<void>(() => {})
    const load = { concurrency: 1, signal, failed: failed.signal, mayStart: always, work, onAllParked }
    await expect(workThrough([1], load)).resolves.toBeUndefined()
  })

  test('throws the first error when running items have ended', async () => {
    let ended = false
    const work = async (item: number) => {
      if (item === 1) throw new Error('first')
      await sleep(20)
      ended = true
    }
    await expect(workThrough([1, 2, 3], { concurrency: 2, signal, mayStart: always, work })).rejects.toThrow(
      'first',
    )
    expect(ended).toBe(true)
  })

  test('other items run while one is parked, and onAllParked is called once when all are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
        async (count, concurrency, waitsOf) => {
          const { promise: answer, resolve } = Promise.withResolvers<void>()
          let busy = 0
          let most = 0
          let called = 0
          let asked = 0
          const plan = Array.from({ length: count }, () => waitsOf.next().value)
          const done: number[] = []
          const enter = (): void => {
            busy += 1
            most = Math.max(most, busy)
          }
          await workThrough([...plan.keys()], {
            concurrency,
            signal,
            mayStart: always,
            onAllParked: async () => {
              called += 1
              expect(busy).toBe(0)
              expect(asked).toBe(plan.reduce((sum, waits) => sum + waits, 0))
              resolve()
            },
            work: async (item, slot) => {
              enter()
              await Promise.resolve()
              busy -= 1
              await Promise.all(
                Array.from({ length: plan[item] ?? 0 }, () =>
                  slot.park(() => {
                    asked += 1
                    return answer
                  }),
                ),
              )
              enter()
              await Promise.resolve()
              busy -= 1
              done.push(item)
            },
          })
          expect(done.toSorted((a, b) => a - b)).toEqual([...plan.keys()])
          expect(most).toBeLessThanOrEqual(concurrency)
          expect(called).toBe(plan.some((waits) => waits > 0) ? 1 : 0)
        },
      ),
    )
  })

  test('waits of one item end together, so it keeps no slot while waiting', async () => {
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const order: string[] = []
    await workThrough(['both', 'other'], {
      concurrency: 1,
      signal,
      mayStart: always,
      onAllParked: async () => second.resolve(),
      work: async (item, slot) => {
        if (item === 'other') {
          first.resolve()
          await sleep(5)
        } else await Promise.all([slot.park(() => first.promise), slot.park(() => second.promise)])
        order.push(item)
      },
    })
    expect(order).toEqual(['other', 'both'])
  })

  test('an error of the wait is thrown to the item, in its slot', async () => {
    const { promise, reject } = Promise.withResolvers<never>()
    const seen: unknown[] = []
    await workThrough([1, 2], {
      concurrency: 1,
      signal,
      mayStart: always,
      onAllParked: async () => reject(new Error('no answer')),
      work: async (_, slot) => {
        await slot.park(() => promise).catch((error: unknown) => seen.push(error))
      },
    })
    expect(seen).toHaveLength(2)
  })

  test('gives up parked items after an error instead of waiting', async () => {
    let isBack = false
    const work = async (item: number, slot: TrialSlot) => {
      if (item === 2) throw new Error('disk full')
      await slot.park(() => new Promise(() => {}))
      isBack = true
    }
    const onAllParked = () => Promise.reject(new Error('must not be called'))
    await expect(
      workThrough([1, 2], { concurrency: 1, signal, mayStart: always, work, onAllParked }),
    ).rejects.toThrow('disk full')
    expect(isBack).toBe(false)
  })

  test('throws an error of onAllParked, and does not hang when nothing arrives', async () => {
    const work = async (_: number, slot: TrialSlot) => {
      await slot.park(() => new Promise(() => {}))
    }
    const failing = async () => Promise.reject(new Error('no journal'))
    await expect(
      workThrough([1], { concurrency: 1, signal, mayStart: always, work, onAllParked: failing }),
    ).rejects.toThrow('no journal')
    const silent = async () => {}
    await expect(
      workThrough([1], { concurrency: 1, signal, mayStart: always, work, onAllParked: silent }),
    ).rejects.toThrow('does not come')
  })

  test('an interruption ends parked items without calling onAllParked', async () => {
    const stop = new AbortController()
    let called = 0
    const started: number[] = []
    const ended: number[] = []
    const work = async (item: number, slot: TrialSlot) => {
      started.push(item)
      if (item === 3) {
        await sleep(5)
        stop.abort()
        ended.push(item)
        return
      }
      const stopped = new Promise((_, reject) => {
        stop.signal.addEventListener('abort', () => reject(new Error('stopped')))
      })
      const isAnswered = await slot
        .park(() => stopped)
        .then(
          () => true,
          () => false,
        )
      if (isAnswered) ended.push(item)
    }
    const onAllParked = async (): Promise<void> => {
      called += 1
    }
    const mayStart = () => !stop.signal.aborted
    await workThrough([1, 2, 3, 4], { concurrency: 1, signal: stop.signal, mayStart, work, onAllParked })
    expect(started).toEqual([1, 2, 3])
    expect(ended).toEqual([3])
    expect(called).toBe(0)
  })
})
