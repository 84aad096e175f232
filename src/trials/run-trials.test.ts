import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { fakeTimer } from '../../test/support/fake-timer.ts'
import { systemTimer } from '../io/timer.ts'
import { createBudget } from '../models/budget.ts'
import type {
  AttemptFailure,
  AttemptOrder,
  AttemptResult,
  PlannedTrial,
  TrialKind,
  TrialsOptions,
} from './contract.ts'
import { notRunReasons, runTrials } from './run-trials.ts'

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

/** Runs the trials and records what the engine did. */
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
        mayHelp: () => true,
        maxRetries: more.maxRetries ?? 1,
        maxPauseMs: 10_000,
        longestWaitMs: 0,
        retryWaitMs: () => 0,
        limitWaitMs: () => 30,
      },
      note: ({ message }) => seen.push(message),
      ...more,
    },
  )
  return { seen, notRun: report.notRun.map(({ trial }) => trial.id), report }
}

describe('trials', () => {
  test('run in plan order, and known results are not repeated', async () => {
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

  test('of several groups run in plan order, and a group ends after its last or when the run is interrupted', async () => {
    const trials = ['a1', 'b1', 'b2', 'a2', 'c1', 'a3', 'c2'].map((id) =>
      planned(id, { group: id.slice(0, 1) }),
    )
    const whole = await run(trials, { attempt: async () => made('done') })
    expect(whole.seen.filter((line) => !line.startsWith('keep'))).toEqual(
      ['start a1', 'start b1', 'start b2', 'end b', 'start a2', 'start c1', 'start a3', 'end a'].concat([
        'start c2',
        'end c',
      ]),
    )
    const stop = new AbortController()
    const { seen } = await run(
      trials,
      {
        attempt: async ({ trial }) => {
          if (trial.id === 'a2') stop.abort()
          return made('done')
        },
      },
      { signal: stop.signal },
    )
    expect(seen.filter((line) => !line.startsWith('keep'))).toEqual([
      'start a1',
      'start b1',
      'start b2',
      'end b',
      'start a2',
      'end a',
    ])
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

  test('do not start after an error, and running ones are kept', async () => {
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

describe('storing results', () => {
  test('an error of it is thrown after an interruption too', async () => {
    const stop = new AbortController()
    const running = run(
      [planned('a')],
      {
        attempt: async () => {
          stop.abort()
          return made('done', 1)
        },
        keep: () => Promise.reject(new Error('disk full')),
      },
      { signal: stop.signal },
    )
    await expect(running).rejects.toThrow('disk full')
    const again = new AbortController()
    const late = run(
      [planned('a')],
      {
        attempt: async () => failed({}, 1),
        putAside: () => {
          again.abort()
          throw new Error('no space')
        },
      },
      { signal: again.signal },
    )
    await expect(late).rejects.toThrow('no space')
  })

  test('a trial interrupted in the wait after a failed attempt costs what that attempt cost', async () => {
    const stop = new AbortController()
    const { report } = await run(
      [planned('a')],
      { attempt: async () => failed({ reason: 'rate_limit', retryAfterMs: 5_000 }, 1) },
      { signal: stop.signal, note: () => setImmediate(() => stop.abort()), timer: systemTimer },
    )
    expect(report.notRun).toMatchObject([{ trial: { id: 'a' }, costUsd: 1 }])
  })

  test('the run ends after every result is stored, even after an error', async () => {
    const seen: string[] = []
    const running = run([planned('a'), planned('bad')], {
      attempt: async ({ trial }) => {
        if (trial.id === 'bad') throw new Error('disk full')
        return made('done')
      },
      keep: async ({ id }) => {
        for (let turn = 0; turn < 10; turn += 1) await nextTurn()
        seen.push(id)
      },
    })
    await expect(running).rejects.toThrow('disk full')
    expect(seen).toEqual(['a'])
  })

  test('another trial starts meanwhile, but none of the same group, and an error stops the rest', async () => {
    const order: string[] = []
    const kind: Pick<Kind, 'attempt' | 'keep'> = {
      attempt: async ({ trial }) => {
        order.push(`start ${trial.id}`)
        return made('done')
      },
      keep: async ({ id }) => {
        for (let turn = 0; turn < 10; turn += 1) await nextTurn()
        order.push(`kept ${id}`)
      },
    }
    await run([planned('a'), planned('b')], kind)
    expect(order).toEqual(['start a', 'start b', 'kept a', 'kept b'])
    order.length = 0
    await run([planned('a', { group: 'g' }), planned('b', { group: 'g' })], kind)
    expect(order).toEqual(['start a', 'kept a', 'start b', 'kept b'])
    order.length = 0
    const failing = run([planned('a', { group: 'g' }), planned('b', { group: 'g' })], {
      ...kind,
      keep: () => Promise.reject(new Error('disk full')),
    })
    await expect(failing).rejects.toThrow('disk full')
    expect(order).toEqual(['start a'])
  })
})

test('no attempt starts past the deadline, even if it waited for money until then', async () => {
  const timer = fakeTimer()
  const { notRun } = await run(
    [planned('a', { maxCostUsd: 1 }), planned('b', { maxCostUsd: 1 })],
    {
      attempt: async () => {
        await timer.sleep(5_000, new AbortController().signal)
        return made('done', 0)
      },
    },
    { concurrency: 2, budget: createBudget(1), expectedCostUsd: 1, timer, deadline: timer.now() + 1_000 },
  )
  expect(notRun).toEqual(['b'])
})

describe('a limit of the provider', () => {
  const limited = (retryAfterMs: number, costUsd = 0) =>
    failed({ reason: 'rate_limit', retryAfterMs }, costUsd)

  test('stops every trial of that provider until it has passed, and no other', async () => {
    const timer = fakeTimer()
    const starts: [string, number][] = []
    await run(
      [planned('a'), planned('b'), planned('c', { provider: 'other' })],
      {
        attempt: async ({ trial, tries }) => {
          starts.push([trial.id, timer.now() - 1_000])
          return trial.id === 'a' && tries === 0 ? limited(150) : made('done')
        },
      },
      { maxRetries: 0, timer },
    )
    // With one slot: c does not wait for b, which waits for the limit that a met.
    expect(starts).toEqual([
      ['a', 0],
      ['c', 0],
      ['a', 150],
      ['b', 150],
    ])
  })

  test('frees the slots of the trials that wait, so those of other providers run at once', async () => {
    const timer = fakeTimer()
    const starts: [string, number][] = []
    const trials = ['a', 'b'].map((id) => planned(id))
    await run(
      [...trials, planned('c', { provider: 'q' }), planned('d', { provider: 'q' })],
      {
        attempt: async ({ trial, tries }) => {
          starts.push([trial.id, timer.now() - 1_000])
          return trial.provider === 'p' && tries === 0 ? limited(5_000) : made('done')
        },
      },
      { concurrency: 2, timer },
    )
    expect(starts.slice(0, 4).map(([id]) => id)).toEqual(['a', 'b', 'c', 'd'])
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 0, 0, 0, 5_000, 5_000])
  })

  test('is waited for by a trial that waited for money when it was met', async () => {
    const timer = fakeTimer()
    const budget = createBudget(1)
    const starts: [string, number][] = []
    await run(
      [planned('a', { maxCostUsd: 1 }), planned('b', { maxCostUsd: 1 })],
      {
        attempt: async ({ trial, tries }) => {
          starts.push([trial.id, timer.now() - 1_000])
          // Until b waits for the share of a.
          await nextTurn()
          return trial.id === 'a' && tries === 0 ? limited(2_000) : made('done')
        },
      },
      { concurrency: 2, budget, expectedCostUsd: 1, timer },
    )
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 2_000, 2_000])
    expect(budget.state()).toMatchObject({ reservedUsd: 0, spentUsd: 0 })
  })

  test('that begins while a trial waits for its turn is waited for too', async () => {
    const timer = fakeTimer()
    const turn = Promise.withResolvers<void>()
    const starts: [string, number][] = []
    let taken = 0
    await run(
      [planned('a'), planned('b')],
      {
        attempt: async ({ trial, tries }) => {
          starts.push([trial.id, timer.now() - 1_000])
          if (trial.id === 'b' || tries > 0) return made('done')
          setImmediate(turn.resolve)
          return limited(2_000)
        },
      },
      {
        concurrency: 2,
        timer,
        limiter: {
          take: () => {
            taken += 1
            return taken === 2 ? turn.promise : Promise.resolve()
          },
        },
      },
    )
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 2_000, 2_000])
  })

  test('does not use up a retry', async () => {
    const reasons = ['rate_limit', 'unavailable', 'overloaded', 'unavailable'] as const
    const { seen } = await run(
      [planned('a')],
      { attempt: async ({ tries }) => failed({ reason: reasons[tries] ?? null }) },
      { maxRetries: 2, timer: fakeTimer() },
    )
    expect(seen.at(-1)).toBe('keep a broken after 4')
  })

  test('that ends after the deadline is not waited for', async () => {
    const timer = fakeTimer()
    const { seen, notRun } = await run(
      [planned('a'), planned('b', { provider: 'other' })],
      { attempt: async ({ trial }) => (trial.id === 'a' ? limited(5_000, 0.1) : made('done')) },
      { timer, deadline: timer.now() + 4_000 },
    )
    expect(seen).toContain('keep b done after 0')
    expect(notRun).toEqual(['a'])
    expect(timer.now()).toBe(1_000)
  })

  test('is not waited for after an error', async () => {
    const timer = fakeTimer()
    const running = run(
      [planned('a'), planned('bad', { provider: 'other' })],
      {
        attempt: async ({ trial }) => {
          if (trial.id === 'bad') throw new Error('disk full')
          return limited(5_000)
        },
      },
      { timer },
    )
    await expect(running).rejects.toThrow('disk full')
    expect(timer.now()).toBe(1_000)
  })

  test('does not make a batch start before the trials that wait for it have run', async () => {
    const timer = fakeTimer()
    const answer = Promise.withResolvers<void>()
    const asked: string[] = []
    await run(
      [planned('a'), planned('b', { provider: 'other' })],
      {
        attempt: async ({ trial, tries }, { slot }) => {
          if (trial.id === 'a' && tries === 0) return limited(5_000)
          await slot.park(() => {
            asked.push(trial.id)
            return answer.promise
          })
          return made('done')
        },
      },
      {
        timer,
        onAllParked: async () => {
          expect(asked.toSorted()).toEqual(['a', 'b'])
          answer.resolve()
        },
      },
    )
    expect(asked).toEqual(['b', 'a'])
  })

  test('causes no longer wait than the policy allows', async () => {
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
    expect(report.notRun[0]?.why).toBe(
      'the budget of $1.00 has $0.2000 left, and a trial like it costs about $0.4000',
    )
    expect(budget.state()).toMatchObject({ spentUsd: 0.8, reservedUsd: 0 })
  })

  test('lets the trials that fit finish and be kept, and never starts more at a time than fit', async () => {
    const budget = createBudget(0.008)
    const { seen, report } = await run(
      [planned('a'), planned('b'), planned('c')],
      {
        attempt: async ({ maxCostUsd }) => {
          await nextTurn()
          return 0.006 > (maxCostUsd ?? 0)
            ? { kind: 'over_budget', costUsd: 0.006, result: 'cut' }
            : made('done', 0.006)
        },
      },
      { budget, concurrency: 3 },
    )
    expect(seen).toEqual(['start a', 'keep a done after 0'])
    expect(budget.state().spentUsd).toBe(0.006)
    expect(notRunReasons(report.notRun)).toEqual([
      'the budget of $0.0080 has $0.0020 left, and a trial like it costs about $0.0060',
    ])
  })

  test('is not the reason when time or an interruption stopped the run', async () => {
    const timer = fakeTimer()
    const late = await run(
      [planned('a'), planned('b')],
      {
        attempt: async () => {
          await timer.sleep(5_000, new AbortController().signal)
          return made('done')
        },
      },
      { timer, deadline: timer.now() + 1_000 },
    )
    expect(late.report.notRun.map(({ why }) => why)).toEqual(['the time limit was reached'])
    const stop = new AbortController()
    const stopped = await run(
      [planned('a'), planned('b')],
      {
        attempt: async () => {
          stop.abort()
          return made('done')
        },
      },
      { signal: stop.signal },
    )
    expect(stopped.report.notRun.map(({ why }) => why)).toEqual(['the run was interrupted'])
  })

  test('that cuts an attempt off puts it aside and leaves the trial to be made', async () => {
    const { seen, report } = await run(
      [planned('a')],
      { attempt: async () => ({ kind: 'over_budget', costUsd: 2, result: 'half' }) },
      { budget: createBudget(1) },
    )
    expect(seen).toEqual(['start a', 'aside a over-budget'])
    expect(report.notRun).toMatchObject([
      { trial: { id: 'a' }, costUsd: 2, why: 'the budget stopped it after $2.00: $1.00 was left for it' },
    ])
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

test('the input and the result of an attempt survive JSON', async () => {
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
