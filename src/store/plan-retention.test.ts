import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultRetention, type RetentionCandidate, type RunWorth, runFlags } from './contract.ts'
import { planRetention } from './plan-retention.ts'

const now = Date.parse('2025-06-30T12:00:00Z')
const day = 86_400_000
const worths: readonly RunWorth[] = ['paid', 'long', 'unfinished', 'own', 'task']

describe('planRetention', () => {
  test('removes the oldest five of twenty-five runs', () => {
    const runs = Array.from({ length: 25 }, (_, hour) =>
      run(`r${hour}`, { startedAtMs: now - hour * 3_600_000 }),
    )
    const plan = planRetention(runs, now, defaultRetention)
    expect(plan.remove.map(({ id }) => id)).toEqual(['r24', 'r23', 'r22', 'r21', 'r20'])
    expect(plan.remove.every(({ reason }) => reason === 'count')).toBe(true)
    expect(plan.keep).toHaveLength(20)
  })

  test('removes a run older than fourteen days even if there are few', () => {
    const runs = [
      run('old', { startedAtMs: now - 14 * day - 1 }),
      run('edge', { startedAtMs: now - 14 * day }),
    ]
    expect(planRetention(runs, now, defaultRetention).remove).toEqual([{ id: 'old', reason: 'age' }])
  })

  test.each(runFlags)('keeps a %s run and gives the reason', (flag) => {
    const plan = planRetention([run('a', { startedAtMs: 0, flags: [flag] })], now, defaultRetention)
    expect(plan).toEqual({ remove: [], keep: [{ id: 'a', reason: flag }] })
  })

  test('keeps a live run, a protected run and one with unreadable flags', () => {
    const runs = [
      run('live', { startedAtMs: 0, live: true }),
      run('damaged', { startedAtMs: 1, damaged: true }),
      run('mine', { startedAtMs: 2 }),
    ]
    expect(planRetention(runs, now, defaultRetention, new Set(['mine'])).keep).toEqual([
      { id: 'live', reason: 'live' },
      { id: 'damaged', reason: 'damaged' },
      { id: 'mine', reason: 'protected' },
    ])
  })

  test('keeps runs that a blessed run refers to, directly or indirectly, even in a cycle', () => {
    const runs = [
      run('a', { startedAtMs: 0, flags: ['blessed'], refersTo: ['b', 'gone'] }),
      run('b', { startedAtMs: 1, refersTo: ['c'] }),
      run('c', { startedAtMs: 2, refersTo: ['a', 'b'] }),
      run('d', { startedAtMs: 3, refersTo: ['e'] }),
      run('e', { startedAtMs: 4 }),
    ]
    const plan = planRetention(runs, now, defaultRetention)
    expect(plan.keep.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      'a blessed',
      'b referenced',
      'c referenced',
    ])
    expect(plan.remove.map(({ id }) => id)).toEqual(['d', 'e'])
  })

  test('keeps the one run that twenty cached ones refer to, whatever its age', () => {
    const real = run('real', { startedAtMs: now - 15 * day, refersTo: ['before'] })
    const before = run('before', { startedAtMs: now - 16 * day })
    const cached = Array.from({ length: 22 }, (_, hour) =>
      run(`c${hour}`, { startedAtMs: now - hour, refersTo: ['real'] }),
    )
    const { remove, keep } = planRetention([before, real, ...cached], now, defaultRetention)
    expect(remove.map(({ id }) => id)).toEqual(['c21', 'c20'])
    expect(keep.filter(({ reason }) => reason === 'referenced')).toHaveLength(2)
  })

  test.each<RunWorth>(['paid', 'unmetered', 'long', 'unfinished', 'own', 'task'])(
    'never removes a run by a count when it is %s, and gives the reason only where the count would have',
    (worth) => {
      const old = run('old', { startedAtMs: now - day, worth })
      const free = Array.from({ length: 22 }, (_, hour) => run(`r${hour}`, { startedAtMs: now - hour }))
      const plan = planRetention([old, ...free], now, defaultRetention)
      expect(plan.remove.map(({ id }) => id)).toEqual(['r21', 'r20'])
      expect(plan.keep).toHaveLength(21)
      expect(plan.keep[0]).toEqual({ id: 'old', reason: worth })
      expect(planRetention([old], now, defaultRetention).keep).toEqual([{ id: 'old', reason: 'recent' }])
    },
  )

  test('runs that cost something take no room from those that cost nothing', () => {
    const paid = Array.from({ length: 30 }, (_, hour) =>
      run(`p${hour}`, { startedAtMs: now - hour, worth: 'paid' }),
    )
    const free = Array.from({ length: 20 }, (_, hour) => run(`f${hour}`, { startedAtMs: now - day - hour }))
    expect(planRetention([...paid, ...free], now, defaultRetention).remove).toEqual([])
  })

  test('age removes a run that cost money', () => {
    const runs = [run('old', { startedAtMs: now - 15 * day, worth: 'paid' })]
    expect(planRetention(runs, now, defaultRetention).remove).toEqual([{ id: 'old', reason: 'age' }])
  })

  test('follows the policy for any set of runs', () => {
    fc.assert(
      fc.property(candidates(), fc.nat(30), fc.nat(40), (runs, maxRuns, maxAgeDays) => {
        const policy = { maxRuns, maxAgeMs: maxAgeDays * day }
        const { remove, keep } = planRetention(runs, now, policy)
        const byId = new Map(runs.map((candidate) => [candidate.id, candidate]))
        const removed = remove.map(({ id }) => byId.get(id)).filter((found) => found !== undefined)
        const recent = keep.filter(({ reason }) => reason === 'recent').map(({ id }) => byId.get(id))

        expect([...remove, ...keep].map(({ id }) => id).sort()).toEqual([...byId.keys()].sort())
        expect(removed.every(({ flags, live, damaged }) => flags.length === 0 && !live && !damaged)).toBe(
          true,
        )
        expect(
          recent.every((found) => found !== undefined && now - found.startedAtMs <= policy.maxAgeMs),
        ).toBe(true)
        // No run with a worth is removed by a count.
        expect(remove.every(({ id, reason }) => reason === 'age' || byId.get(id)?.worth === null)).toBe(true)
        // Keeps at most the limit of those that are neither exempt nor have a worth.
        const removable = recent.filter((found) => found?.worth === null)
        expect(removable.length).toBeLessThanOrEqual(maxRuns)
        // The count alone never removes more than needed.
        if (remove.some(({ reason }) => reason === 'count'))
          expect(keep.length).toBeGreaterThanOrEqual(maxRuns)
        // No run is removed by count while an older removable one stays.
        const youngestByCount = Math.max(
          ...remove
            .filter(({ reason }) => reason === 'count')
            .map(({ id }) => byId.get(id)?.startedAtMs ?? NaN),
          -Infinity,
        )
        expect(removable.every((found) => (found?.startedAtMs ?? NaN) >= youngestByCount)).toBe(true)
      }),
    )
  })

  test('does not depend on the order of the runs, and a second cleaning removes nothing', () => {
    fc.assert(
      fc.property(candidates(), fc.nat(30), (runs, maxRuns) => {
        const policy = { maxRuns, maxAgeMs: 14 * day }
        const plan = planRetention(runs, now, policy)
        expect(planRetention(runs.toReversed(), now, policy)).toEqual(plan)
        const gone = new Set(plan.remove.map(({ id }) => id))
        const left = runs.filter(({ id }) => !gone.has(id))
        expect(planRetention(left, now, policy).remove).toEqual([])
      }),
    )
  })
})

function run(id: string, overrides: Partial<RetentionCandidate> = {}): RetentionCandidate {
  return {
    id,
    startedAtMs: now,
    flags: [],
    live: false,
    damaged: false,
    refersTo: [],
    worth: null,
    ...overrides,
  }
}

function candidates(): fc.Arbitrary<RetentionCandidate[]> {
  const id = fc.integer({ min: 0, max: 60 }).map((number) => `r${number}`)
  const rarely = fc.integer({ min: 0, max: 9 }).map((number) => number === 0)
  return fc.uniqueArray(
    fc.record({
      id,
      startedAtMs: fc.integer({ min: now - 40 * day, max: now + day }),
      flags: fc.oneof({ weight: 6, arbitrary: fc.constant([]) }, fc.subarray([...runFlags])),
      live: rarely,
      damaged: rarely,
      refersTo: fc.array(id, { maxLength: 3 }),
      worth: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom(...worths)),
    }),
    { selector: (candidate) => candidate.id, maxLength: 45 },
  )
}
