import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { workThrough } from './work-through.ts'

const signal = new AbortController().signal

describe('workThrough', () => {
  test('does every item once, with no more hands than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        async (count, concurrency) => {
          let busy = 0
          let most = 0
          const done: number[] = []
          const left = await workThrough(
            Array.from({ length: count }, (_, index) => index),
            {
              concurrency,
              signal,
              work: async (item) => {
                busy += 1
                most = Math.max(most, busy)
                await Promise.resolve()
                done.push(item)
                busy -= 1
                return 'done'
              },
            },
          )
          expect(left).toEqual([])
          expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index))
          expect(most).toBeLessThanOrEqual(concurrency)
        },
      ),
    )
  })

  test('tells in order what was not done', async () => {
    const work = async (item: number) => (item % 2 === 0 ? ('done' as const) : ('not_run' as const))
    expect(await workThrough([1, 2, 3, 4], { concurrency: 2, signal, work })).toEqual([1, 3])
  })

  test('starts nothing after an interruption', async () => {
    const stop = new AbortController()
    const work = async (item: number) => {
      if (item === 2) stop.abort()
      return 'done' as const
    }
    expect(await workThrough([1, 2, 3, 4], { concurrency: 1, signal: stop.signal, work })).toEqual([3, 4])
  })

  test('starts nothing past its deadline', async () => {
    const work = async () => 'done' as const
    const deadline = performance.now() - 1
    expect(await workThrough([1, 2], { concurrency: 1, signal, deadline, work })).toEqual([1, 2])
  })

  test('throws the first error once what was under way has ended', async () => {
    let ended = false
    const work = async (item: number) => {
      if (item === 1) throw new Error('first')
      await sleep(20)
      ended = true
      return 'done' as const
    }
    await expect(workThrough([1, 2, 3], { concurrency: 2, signal, work })).rejects.toThrow('first')
    expect(ended).toBe(true)
  })
})
