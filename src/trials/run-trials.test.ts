import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createBudget } from '../models/budget.ts'
import type {
  AttemptFailure,
  AttemptOrder,
  AttemptResult,
  PlannedTrial,
  TrialKind,
  TrialsOptions,
} from './contract.ts'
import { runTrials } from './run-trials.ts'

type Kind = TrialKind<string, string>
const planned = (id: string, more: Partial<PlannedTrial<string>> = {}): PlannedTrial<string> => ({
  id,
  title: id,
  provider: 'p',
  spec: id,
  ...more,
})
const made = (result: string, costUsd = 0): AttemptResult<string> => ({ kind: 'made', costUsd, result })
const failed = (failure: Partial<AttemptFailure> = {}, costUsd = 0): AttemptResult<string> => ({
  kind: 'failed',
  costUsd,
  result: 'broken',
  failure: { reason: null, message: 'it broke', retryAfterMs: null, ...failure },
})

/** Runs the trials and writes down what the engine did. */
async function run(
  trials: readonly PlannedTrial<string>[],
  kind: Partial<Kind> & Pick<Kind, 'attempt'>,
  more: Partial<TrialsOptions> & { readonly maxRetries?: number } = {},
) {
  const seen: string[] = []
  const report = await runTrials(
    trials,
    {
      started: ({ id }) => seen.push(`start ${id}`),
      keep: ({ id }, result, { count }) => void seen.push(`keep ${id} ${result} after ${count}`),
      putAside: ({ id }, _, why) => seen.push(`aside ${id} ${why}`),
      endGroup: async (group) => void seen.push(`end ${group}`),
      ...kind,
    },
    {
      concurrency: 1,
      signal: new AbortController().signal,
      budget: null,
      retry: {
        mode: 'every_failure',
        maxRetries: more.maxRetries ?? 1,
        maxPauseMs: 10_000,
        longestWaitMs: 0,
        backoffMs: () => 30,
      },
      note: ({ message }) => seen.push(message),
      ...more,
    },
  )
  return { seen, notRun: report.notRun.map(({ trial }) => trial.id), report }
}

describe('trials', () => {
  test('are made in plan order, and what is known is not made', async () => {
    const { seen, notRun } = await run([planned('a'), planned('b')], {
      known: async ({ id }) => (id === 'a' ? 'cached' : null),
      attempt: async () => made('new'),
    })
    expect(seen).toEqual(['start a', 'keep a cached after 0', 'start b', 'keep b new after 0'])
    expect(notRun).toEqual([])
  })

  test('of a group run one after the other, and the group is ended once', async () => {
    let busy = 0
    const trials = ['a', 'b', 'c'].map((id) => planned(id, { group: id === 'b' ? 'two' : 'one' }))
    const { seen } = await run(
      trials,
      {
        attempt: async ({ trial }) => {
          if (trial.group === 'one') busy += 1
          expect(busy).toBeLessThanOrEqual(1)
          await sleep(2)
          if (trial.group === 'one') busy -= 1
          return made('done')
        },
      },
      { concurrency: 3 },
    )
    expect(seen.filter((line) => line.startsWith('end')).toSorted()).toEqual(['end one', 'end two'])
    expect(seen.filter((line) => line.startsWith('keep'))).toHaveLength(3)
  })

  test('that failed are tried again, put aside, and kept when no retry is left', async () => {
    const orders: number[] = []
    const { seen } = await run([planned('a')], {
      attempt: async ({ tries }) => {
        orders.push(tries)
        return failed()
      },
    })
    expect(orders).toEqual([0, 1])
    expect(seen).toEqual(['start a', 'a: it broke; trying again', 'aside a infra', 'keep a broken after 1'])
  })

  test('that were interrupted are reported in plan order, with what their failed attempts cost', async () => {
    const stop = new AbortController()
    const { notRun, report } = await run(
      [planned('a'), planned('b'), planned('c')],
      {
        attempt: async ({ trial, tries }) => {
          if (trial.id === 'a') return made('done')
          if (tries === 0) return failed({}, 0.5)
          stop.abort()
          throw new Error('stopped')
        },
      },
      { signal: stop.signal },
    )
    expect(notRun).toEqual(['b', 'c'])
    expect(report.notRun.map(({ costUsd }) => costUsd)).toEqual([0.5, 0])
  })

  test('no other one starts after an error, and those under way are kept', async () => {
    const seen: string[] = []
    const running = run(
      [planned('bad'), planned('slow'), planned('never')],
      {
        attempt: async ({ trial }) => {
          if (trial.id === 'bad') throw new Error('disk full')
          await sleep(10)
          return made('done')
        },
        keep: ({ id }) => void seen.push(id),
      },
      { concurrency: 2 },
    )
    await expect(running).rejects.toThrow('disk full')
    expect(seen).toEqual(['slow'])
  })
})

describe('a limit of the provider', () => {
  test('stops every trial of that provider until it has passed, and no other', async () => {
    const starts: [string, number][] = []
    let isLimited = true
    const begun = performance.now()
    await run(
      [planned('a'), planned('b'), planned('c', { provider: 'other' })],
      {
        attempt: async ({ trial }) => {
          starts.push([trial.id, performance.now() - begun])
          if (trial.id !== 'a' || !isLimited) return made('done')
          isLimited = false
          return failed({ reason: 'rate_limit', retryAfterMs: 150 })
        },
      },
      { maxRetries: 0 },
    )
    const [[, first] = ['', 0], ...rest] = starts
    const again = rest.find(([id]) => id === 'a')
    expect(again?.[1] ?? 0).toBeGreaterThanOrEqual(first + 149)
    const together = await run(
      [planned('a'), planned('b'), planned('c', { provider: 'other' })],
      {
        attempt: async ({ trial, tries }) => {
          if (trial.id === 'a' && tries === 0) return failed({ reason: 'overloaded', retryAfterMs: 100 })
          await sleep(1)
          return made('done')
        },
      },
      { concurrency: 2 },
    )
    const kept = together.seen.filter((line) => line.startsWith('keep')).map((line) => line.split(' ')[1])
    // b may have started before a met the limit; c never waits.
    expect(kept.indexOf('c')).toBeLessThan(kept.indexOf('a'))
  })

  test('is waited for no longer than the policy allows', async () => {
    const { seen } = await run([planned('a')], {
      attempt: async () => failed({ reason: 'rate_limit', retryAfterMs: 20_000 }),
    })
    expect(seen).toEqual(['start a', 'keep a broken after 0'])
  })
})

describe('the budget', () => {
  test('is reserved before an attempt starts and settled when it ends', async () => {
    const budget = createBudget(1)
    const { notRun, report } = await run(
      [planned('a'), planned('b'), planned('c')],
      {
        attempt: async ({ maxCostUsd }) => {
          expect(budget.state().reservedUsd).toBeCloseTo(maxCostUsd ?? 0)
          return made('done', 0.4)
        },
      },
      { budget },
    )
    expect(notRun).toEqual(['c'])
    expect(report.refusal).toContain('less than a trial costs')
    expect(budget.state()).toMatchObject({ spentUsd: 0.8, reservedUsd: 0 })
  })

  test('that cuts an attempt off puts it aside and leaves the trial to be made', async () => {
    const { seen, report } = await run(
      [planned('a')],
      { attempt: async () => ({ kind: 'over_budget', costUsd: 2, result: 'half' }) },
      { budget: createBudget(1) },
    )
    expect(seen).toEqual(['start a', 'aside a over-budget'])
    expect(report.notRun).toMatchObject([{ trial: { id: 'a' }, costUsd: 2 }])
  })

  test('of a trial is its own limit where that is smaller', async () => {
    const shares: (number | null)[] = []
    await run(
      [planned('a', { maxCostUsd: 0.1 }), planned('b')],
      {
        attempt: async ({ maxCostUsd }) => {
          shares.push(maxCostUsd)
          return made('done', 0)
        },
      },
      { budget: createBudget(1) },
    )
    expect(shares).toEqual([0.1, 1])
  })
})

test('an attempt can be made elsewhere: its order and its result survive JSON', async () => {
  const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
  const remote = async (order: AttemptOrder<string>): Promise<AttemptResult<string>> =>
    order.tries === 0 ? failed({ reason: 'unavailable' }, 0.1) : made(`${order.trial.spec} done`, 0.2)
  const { seen } = await run(
    [planned('a', { group: 'g', maxCostUsd: 0.5 })],
    {
      attempt: async (order) => {
        expect(throughJson(order)).toEqual(order)
        const result = await remote(throughJson(order))
        expect(throughJson(result)).toEqual(result)
        return throughJson(result)
      },
    },
    { budget: createBudget(1) },
  )
  expect(seen.at(-2)).toBe('keep a a done after 1')
})
