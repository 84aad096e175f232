import { expect, test } from 'vitest'
import type { SqlDatabase } from '../../io/sql.ts'
import {
  defaultLeaseSeconds as leaseSeconds,
  type NewQueuedTrial,
  type TrialClaim,
  type TrialNeed,
  type TrialOutcome,
  type TrialQueue,
} from './contract.ts'
import { maxAttempts } from './leases.ts'

/** The queue for one trial at a time. */
export function oneByOne(queue: TrialQueue) {
  return {
    ...queue,
    claim: async (...args: Parameters<TrialQueue['claim']>): Promise<TrialClaim | null> =>
      (await queue.claim(...args))[0] ?? null,
    complete: async (claim: TrialClaim, outcome: TrialOutcome): Promise<boolean> =>
      (await queue.complete([{ claim, outcome }]))[0] ?? false,
  }
}

type OneByOne = ReturnType<typeof oneByOne>

export interface QueueLab {
  readonly queue: TrialQueue
  /** The same queue as another process sees it. */
  readonly other: TrialQueue
  readonly sql: SqlDatabase
  /** As if every lease had its last beat that much earlier. */
  age(ms: number): Promise<void>
  close(): Promise<void>
}

export const need: TrialNeed = { agent: 'a', labels: [], memoryMb: 0, gantry: '1' }
const any = (): boolean => true
const done = { record: '{"verdict":"pass"}', archive: Buffer.from('files'), costUsd: 0.5 }

function trials(count: number, facts: Partial<NewQueuedTrial> = {}): NewQueuedTrial[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `t${String(index).padStart(3, '0')}`,
    spec: `{"n":${index}}`,
    need,
    group: 'p/m',
    expectedUsd: null,
    ...facts,
  }))
}

function newRun(id: string, of: Iterable<NewQueuedTrial>, capUsd: number | null = null, priority = 0) {
  return { id, planHash: 'h', document: '{}', project: 'p', capUsd, priority, trials: of }
}

async function claimed(queue: Pick<OneByOne, 'claim'>, worker = 'w1'): Promise<TrialClaim> {
  const claim = await queue.claim(worker, any)
  if (claim === null) throw new Error('nothing to claim')
  return claim
}

/** What every member of the queue promises. `open` gives an empty queue. */
export function queueConformance(name: string, open: () => Promise<QueueLab>): void {
  type Lab = Omit<QueueLab, 'queue' | 'other'> & {
    readonly queue: OneByOne
    readonly other: OneByOne
    readonly whole: TrialQueue
  }
  const check = (sentence: string, body: (lab: Lab) => Promise<void>): void => {
    test(`${name}: ${sentence}`, async () => {
      const lab = await open()
      try {
        await body({ ...lab, whole: lab.queue, queue: oneByOne(lab.queue), other: oneByOne(lab.other) })
      } finally {
        await lab.close()
      }
    })
  }

  check('notes of a run keep their order, and a reader passes those of an earlier attempt', async (lab) => {
    const { queue, other } = lab
    await queue.tell('r', 1, ['a', 'b'])
    await other.tell('r', 0, ['of the submitter'])
    await other.tell('r', 2, ['c'])
    await queue.tell('r', 1, ['late'])
    await queue.tell('another', 1, ['x'])
    expect(await other.notes('r', { attempt: 0, no: 0 }, 1)).toEqual([
      { attempt: 0, no: 1, text: 'of the submitter' },
    ])
    const texts = async (attempt: number, no: number): Promise<string[]> =>
      (await other.notes('r', { attempt, no }, 9)).map(({ text }) => text)
    expect(await texts(0, 1)).toEqual(['a', 'b', 'late', 'c'])
    expect(await texts(1, 1)).toEqual(['b', 'late', 'c'])
    expect(await texts(2, 1)).toEqual([])
  })

  check('blobs are stored once and checked when they are read', async ({ queue, other, sql }) => {
    const hash = await queue.put(Buffer.from('abc'))
    expect(await queue.put(Buffer.from('abc'))).toBe(hash)
    expect(Buffer.from(await other.get(hash)).toString()).toBe('abc')
    await sql.query('UPDATE blobs SET bytes = $1', [Buffer.from('xyz')])
    await expect(queue.get(hash)).rejects.toMatchObject({ code: 'CORRUPT' })
    await expect(queue.get('0'.repeat(64))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  check('small archives come with the results, unless they are damaged', async ({ queue, other, sql }) => {
    const large = Buffer.alloc(70_000, 'x')
    await queue.submit(newRun('r', trials(2)))
    await queue.complete(await claimed(queue), done)
    await queue.complete(await claimed(queue), { ...done, archive: large })
    const files = async () =>
      (await other.results('r', 0, 9)).map((each) => each.files && Buffer.from(each.files).toString())
    expect(await files()).toEqual(['files', null])
    const [, second] = await other.results('r', 0, 9)
    expect(large.equals(await other.get(second?.archive ?? ''))).toBe(true)
    await sql.query('UPDATE blobs SET bytes = $1', [Buffer.from('other')])
    expect(await files()).toEqual([null, null])
  })

  check('a run is submitted once, and only with one plan', async ({ queue, other }) => {
    const both = [queue, other].map((each) => each.submit(newRun('r1', trials(3))))
    expect((await Promise.all(both)).sort()).toEqual([false, true])
    expect(await other.submit(newRun('r1', trials(3)))).toBe(false)
    await expect(other.submit({ ...newRun('r1', trials(3)), planHash: 'x' })).rejects.toMatchObject({
      code: 'USAGE',
    })
    expect(await other.run('r1')).toMatchObject({ id: 'r1', planned: 3, settled: 0 })
    expect(await other.run('r2')).toBeNull()
    expect(await other.counts()).toEqual([{ run: 'r1', group: 'p/m', state: 'queued', count: 3 }])
  })

  check('a submission that fails leaves nothing', async ({ queue, other }) => {
    const twice = [...trials(700), ...trials(1)]
    await expect(queue.submit(newRun('r1', twice))).rejects.toThrow()
    expect(await other.runs()).toEqual([])
    expect(await other.claim('w', any)).toBeNull()
    expect(await other.submit(newRun('r1', trials(1)))).toBe(true)
  })

  check(
    'trials come by priority, then run by run in turn, in the order of their plans',
    async ({ queue }) => {
      await queue.submit(newRun('batch', trials(3)))
      await queue.submit(newRun('later', trials(2)))
      await queue.submit(newRun('urgent', trials(1), null, 5))
      const order: string[] = []
      for (let claim = await queue.claim('w', any); claim !== null; claim = await queue.claim('w', any))
        order.push(`${claim.run} ${claim.trial}`)
      expect(order[0]).toBe('urgent t000')
      expect(order.slice(1, 3).sort()).toEqual(['batch t000', 'later t000'])
      expect(order.slice(3, 5).sort()).toEqual(['batch t001', 'later t001'])
      expect(order[5]).toBe('batch t002')
    },
  )

  check('a trial goes only to a worker that fits', async ({ queue, other }) => {
    await queue.submit(newRun('r', trials(1, { need: { ...need, labels: ['gpu'] } })))
    expect(await queue.claim('w1', ({ need: { labels } }) => labels.length === 0)).toBeNull()
    expect(await other.claim('w2', async ({ need: { labels } }) => labels.includes('gpu'))).toMatchObject({
      trial: 't000',
    })
    expect(await queue.lanes()).toMatchObject([{ run: 'r', need: { ...need, labels: ['gpu'] }, waiting: 0 }])
  })

  check('a trial is given to one worker only', async ({ queue, other }) => {
    await queue.submit(newRun('r', trials(20)))
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claimed(index % 2 === 0 ? queue : other, `w${index}`)),
    )
    expect(new Set(claims.map(({ trial }) => trial)).size).toBe(20)
    expect(await queue.claim('w', any)).toBeNull()
  })

  check('several trials are taken and ended at once, each with its own fence', async (lab) => {
    const { whole, other, age } = lab
    await whole.submit(newRun('r', trials(6)))
    const claims = await whole.claim('w1', any, 4)
    expect(claims.map(({ trial }) => trial)).toEqual(['t000', 't001', 't002', 't003'])
    await age(leaseSeconds * 1500)
    for (const claim of claims.slice(1)) expect(await whole.beat(claim, 0)).toBe(true)
    await other.expire()
    expect(await other.claim('w2', any)).toMatchObject({ trial: 't000', tries: 2 })
    const ended = claims.map((claim, index) => ({ claim, outcome: { ...done, costUsd: index, lostUsd: 1 } }))
    expect(await whole.complete(ended)).toEqual([false, true, true, true])
    const results = await whole.results('r', 0, 9)
    expect(results.map(({ no, trial, costUsd }) => [no, trial, costUsd])).toEqual([
      [1, 't001', 1],
      [2, 't002', 2],
      [3, 't003', 3],
    ])
    expect(await whole.run('r')).toMatchObject({ settled: 3, open: 3, spentUsd: 9 })
    // One at a time when another run waits, when there is a limit, and of a run with a cap.
    await whole.limit('p/m', 3)
    expect(await whole.claim('w1', any, 9)).toHaveLength(1)
    await whole.limit('p/m', null)
    await whole.submit(newRun('capped', trials(2, { expectedUsd: 1 }), 5))
    expect(await whole.claim('w1', any, 9)).toHaveLength(1)
    await whole.stop('r', 'stopped')
    expect(await whole.claim('w1', any, 9)).toHaveLength(1)
  })

  check('results are numbered without gaps and found after a number', async ({ queue, other }) => {
    await queue.submit(newRun('r', trials(12)))
    const claims: TrialClaim[] = []
    for (let index = 0; index < 12; index += 1) claims.push(await claimed(queue))
    const ended = claims.map((claim, index) => (index % 2 === 0 ? queue : other).complete(claim, done))
    expect(await Promise.all(ended)).toEqual(claims.map(() => true))
    const all = await other.results('r', 0, 100)
    expect(all.map(({ no }) => no)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1))
    expect((await other.results('r', 9, 2)).map(({ no }) => no)).toEqual([10, 11])
    const [first] = all
    expect(first).toMatchObject({ record: done.record, costUsd: 0.5, worker: 'w1', attempts: 1 })
    expect(Buffer.from(await other.get(first?.archive ?? '')).toString()).toBe('files')
    expect(await other.run('r')).toMatchObject({ settled: 12, spentUsd: 6, reservedUsd: 0 })
  })

  check(
    'a lease without beats goes to another worker, and the late one stores nothing',
    async ({ queue, other, age }) => {
      await queue.submit(newRun('r', trials(1)))
      const late = await claimed(queue, 'w1')
      await age(leaseSeconds * 1000 * 0.9)
      expect(await queue.beat(late, 0)).toBe(true)
      await other.expire()
      expect(await other.claim('w2', any)).toBeNull()
      await age(leaseSeconds * 1000 * 1.5)
      await other.expire()
      const second = await claimed(other, 'w2')
      expect(second.trial).toBe(late.trial)
      expect(await queue.beat(late, 0)).toBe(false)
      expect(await queue.complete(late, { ...done, costUsd: 9 })).toBe(false)
      await queue.giveBack(late, null)
      expect(await other.complete(second, done)).toBe(true)
      expect(await other.complete(second, done)).toBe(false)
      expect(await queue.results('r', 0, 9)).toMatchObject([{ worker: 'w2', attempts: 2, costUsd: 0.5 }])
      expect(await queue.run('r')).toMatchObject({ spentUsd: 0.5, settled: 1 })
    },
  )

  check('a trial that is given back starts again, as often as that happens', async ({ queue, other }) => {
    await queue.submit(newRun('r', trials(1)))
    const late = await claimed(queue, 'w1')
    await queue.giveBack(late, { spentUsd: 0.25, pausedMs: 1000 })
    await queue.giveBack(late, { spentUsd: 9 })
    expect(await queue.complete(late, done)).toBe(false)
    expect(await queue.counts()).toMatchObject([{ state: 'queued', count: 1 }])
    for (let index = 0; index < maxAttempts; index += 1)
      await other.giveBack(await claimed(other, 'w2'), { spentUsd: 0 })
    // What was not begun is no try.
    await other.giveBack(await claimed(other, 'w2'), null)
    const last = await claimed(other, 'w2')
    expect(last).toMatchObject({ trial: 't000', tries: maxAttempts + 2, pausedMs: 1000, group: 'p/m' })
    await other.complete(last, done)
    expect(await queue.results('r', 0, 9)).toMatchObject([{ lostUsd: 0.25, costUsd: 0.5 }])
    expect(await queue.run('r')).toMatchObject({ spentUsd: 0.75, reservedUsd: 0, open: 0 })
  })

  check('a run that comes later shares from now on, whatever the needs of its trials', async ({ queue }) => {
    const order: string[] = []
    const take = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) {
        const { run, trial } = await claimed(queue)
        order.push(`${run} ${trial}`)
      }
    }
    const arms = trials(8).map((trial, index) => ({
      ...trial,
      need: { ...need, agent: 'ab'[index % 2] ?? '' },
    }))
    await queue.submit(newRun('long', arms))
    await take(4)
    expect(order).toEqual(['long t000', 'long t001', 'long t002', 'long t003'])
    await queue.submit(newRun('new', trials(2)))
    await take(4)
    expect(order.slice(4).sort()).toEqual(['long t004', 'long t005', 'new t000', 'new t001'])
    await queue.submit(newRun('urgent', trials(1, { need: { ...need, agent: 'z' } }), null, 1))
    await take(3)
    expect(order.slice(8)).toEqual(['urgent t000', 'long t006', 'long t007'])
  })

  check('a trial whose workers die again and again is not run', async ({ queue, age }) => {
    await queue.submit(newRun('r', trials(1)))
    let tries = 0
    for (; tries < 3 * maxAttempts; tries += 1) {
      if ((await queue.claim('w', any)) === null) break
      await age(leaseSeconds * 2000)
      await queue.expire()
    }
    expect(tries).toBeGreaterThanOrEqual(maxAttempts)
    expect(await queue.results('r', 0, 9)).toMatchObject([
      { record: null, why: 'its workers died too often' },
    ])
  })

  check('the budget is passed by no more than the trials under way', async ({ queue, other }) => {
    await queue.submit(newRun('r', trials(10, { expectedUsd: 0.4 }), 1))
    const first = await claimed(queue, 'w1')
    const second = await claimed(other, 'w2')
    expect([first.limitUsd, second.limitUsd]).toEqual([1, 0.6])
    // 0.2 is left: it waits, because the others may cost less.
    expect(await queue.claim('w1', any)).toBeNull()
    expect(await queue.run('r')).toMatchObject({ settled: 0, open: 10, reservedUsd: 0.8 })
    expect(await queue.complete(first, { ...done, costUsd: 0.1, lostUsd: 0.05 })).toBe(true)
    const third = await claimed(queue, 'w1')
    for (const claim of [second, third]) expect(await queue.complete(claim, done)).toBe(true)
    expect(await queue.claim('w1', any)).toBeNull()
    const run = await queue.run('r')
    expect(run).toMatchObject({ settled: 10, open: 0 })
    expect(run?.spentUsd).toBeCloseTo(1.15)
    expect(run?.reservedUsd).toBeCloseTo(0)
    const settled = await queue.results('r', 0, 20)
    expect(settled.map(({ no }) => no)).toEqual(Array.from({ length: 10 }, (_, index) => index + 1))
    expect(settled[0]).toMatchObject({ costUsd: 0.1, lostUsd: 0.05 })
    const why = settled.filter(({ record }) => record === null).map((trial) => trial.why)
    expect(new Set(why)).toEqual(new Set(['the budget of the run is used up: $0.0000 of $1.00 is left']))
    expect(why).toHaveLength(7)
  })

  check(
    'as long as the cost of no trial is known, one runs at a time, then as many as fit',
    async ({ queue }) => {
      await queue.submit(newRun('r', trials(10), 1))
      const first = await claimed(queue)
      expect(await queue.claim('w2', any)).toBeNull()
      await queue.complete(first, { ...done, costUsd: 0.2 })
      for (let index = 0; index < 4; index += 1) await claimed(queue)
      expect(await queue.claim('w2', any)).toBeNull()
    },
  )

  check('a worker that died keeps no reservation, and what it spent counts', async ({ queue, age }) => {
    await queue.submit(newRun('r', trials(2), 1))
    const died = await claimed(queue, 'w1')
    expect(await queue.beat(died, 0.3)).toBe(true)
    await age(leaseSeconds * 2000)
    await queue.expire()
    const again = await claimed(queue, 'w2')
    expect(again.limitUsd).toBeCloseTo(0.7)
    const run = await queue.run('r')
    expect([run?.spentUsd, run?.reservedUsd].map((usd) => usd?.toFixed(2))).toEqual(['0.30', '0.70'])
    await queue.complete(again, done)
    expect((await queue.run('r'))?.reservedUsd).toBeCloseTo(0)
    expect(await queue.results('r', 0, 9)).toMatchObject([{ costUsd: 0.5, lostUsd: 0.3 }])
    // 0.2 is left, and a trial costs about 0.5.
    expect(await queue.claim('w2', any)).toBeNull()
    expect(await queue.run('r')).toMatchObject({ settled: 2, open: 0, spentUsd: 0.8 })
  })

  check('a paused group waits on all machines, the others go on', async ({ queue, other }) => {
    await queue.submit(
      newRun('r', [...trials(1, { id: 'a', group: 'x/1' }), ...trials(1, { id: 'b', group: 'x/2' })]),
    )
    await queue.pause('x/1', null, 'the usage limit is reached')
    expect(await other.pauses()).toEqual([
      { group: 'x/1', leftMs: null, reason: 'the usage limit is reached' },
    ])
    expect(await other.claim('w', any)).toMatchObject({ trial: 'b' })
    expect(await other.claim('w', any)).toBeNull()
    await other.resume('x/1')
    await queue.pause('x/1', -5, 'is over')
    await queue.pause('*', 60_000, 'by a person')
    expect(await other.claim('w', any)).toBeNull()
    expect((await other.pauses()).map(({ group }) => group)).toEqual(['*'])
    await queue.resume('*')
    await queue.pause('x/1', 60_000, 'the usage limit is reached')
    await queue.pause('x/1', 1, 'shorter')
    expect(await other.pauses()).toMatchObject([{ reason: 'the usage limit is reached' }])
    await queue.resume('x/1')
    expect(await other.claim('w', any)).toMatchObject({ trial: 'a' })
  })

  check('no more trials of a group run at a time than its limit', async ({ queue, other }) => {
    await queue.submit(newRun('r', trials(8)))
    await queue.limit('p/m', 3)
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? queue : other).claim('w', any)),
    )
    const running = claims.filter((claim) => claim !== null)
    expect(running).toHaveLength(3)
    await queue.complete(running[0] as TrialClaim, done)
    expect(await other.claim('w', any)).not.toBeNull()
    expect(await other.claim('w', any)).toBeNull()
    await other.limit('p/m', null)
    expect(await queue.claim('w', any)).not.toBeNull()
  })

  check(
    'a stopped run settles what waits, and retry queues it again, also infra',
    async ({ queue, other }) => {
      await queue.submit(newRun('r', trials(4)))
      await queue.complete(await claimed(queue), done)
      await queue.complete(await claimed(queue), { ...done, record: '{"verdict":"infra"}' })
      expect(await other.stop('r', 'it was stopped')).toBe(2)
      await expect(other.stop('nothing', 'it was stopped')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(other.retry('nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await queue.claim('w', any)).toBeNull()
      expect(await queue.run('r')).toMatchObject({ settled: 4, open: 0 })
      expect(await queue.lanes()).toEqual([])
      expect(await other.retry('r')).toBe(3)
      const again = [await claimed(queue), await claimed(queue), await claimed(queue)]
      expect(again.map(({ trial }) => trial).sort()).toEqual(['t001', 't002', 't003'])
      expect((await queue.run('r'))?.open).toBe(3)
      for (const claim of again) await queue.complete(claim, done)
      const numbers = (await queue.results('r', 0, 20)).map(({ no }) => no)
      expect(numbers).toEqual([1, 5, 6, 7])
    },
  )

  check('workers are listed while they are seen, and can be drained', async ({ queue, other, sql }) => {
    const facts = {
      ...{ host: 'h', slots: 2, gantry: '1', labels: ['gpu'], agents: { codex: '1.0' } },
      ...{ memoryMb: 1, onlyAgents: [], refusals: {} },
    }
    expect(await queue.register({ id: 'w1', ...facts })).toEqual({ isDraining: false })
    await other.register({ id: 'w2', ...facts })
    await queue.submit(newRun('r', trials(1)))
    await claimed(queue, 'w1')
    expect(await other.workers()).toMatchObject([
      {
        id: 'w1',
        labels: ['gpu'],
        holds: [{ run: expect.any(String), trial: expect.any(String) }],
        isDraining: false,
      },
      { id: 'w2', holds: [] },
    ])
    expect(await other.drain('w1')).toBe(1)
    expect(await queue.register({ id: 'w1', ...facts })).toEqual({ isDraining: true })
    await sql.query('UPDATE workers SET seen_ms = seen_ms - 1000000 WHERE id = $1', ['w2'])
    expect((await queue.workers()).map(({ id }) => id)).toEqual(['w1'])
    await queue.unregister('w1')
    expect(await other.workers()).toEqual([])
    expect(await other.drain(null)).toBe(1)
  })
}
