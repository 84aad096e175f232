import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultRetention, type RetentionCandidate, runFlags } from './contract.ts'
import { planRetention } from './plan-retention.ts'

const now = Date.parse('2025-06-30T12:00:00Z')
const day = 86_400_000

describe('planRetention', () => {
  test('of twenty-five runs the oldest five go', () => {
    const runs = Array.from({ length: 25 }, (_, hour) =>
      run(`r${hour}`, { startedAtMs: now - hour * 3_600_000 }),
    )
    const plan = planRetention(runs, now, defaultRetention)
    expect(plan.remove.map(({ id }) => id)).toEqual(['r24', 'r23', 'r22', 'r21', 'r20'])
    expect(plan.remove.every(({ reason }) => reason === 'count')).toBe(true)
    expect(plan.keep).toHaveLength(20)
  })

  test('a run past fourteen days goes however few there are', () => {
    const runs = [
      run('old', { startedAtMs: now - 14 * day - 1 }),
      run('edge', { startedAtMs: now - 14 * day }),
    ]
    expect(planRetention(runs, now, defaultRetention).remove).toEqual([{ id: 'old', reason: 'age' }])
  })

  test.each(runFlags)('a run that is %s stays and says so', (flag) => {
    const plan = planRetention([run('a', { startedAtMs: 0, flags: [flag] })], now, defaultRetention)
    expect(plan).toEqual({ remove: [], keep: [{ id: 'a', reason: flag }] })
  })

  test('a live run, a protected run and one whose flags cannot be read stay', () => {
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

  test('what a blessed run leans on stays, and what that one leans on, even in a circle', () => {
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

  test('holds its promises for any set of runs', () => {
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
        // Never more than asked for, unless only exempt runs are left to take.
        expect(keep.length <= maxRuns || recent.length === 0).toBe(true)
        // Never fewer than asked for by count alone.
        if (remove.some(({ reason }) => reason === 'count'))
          expect(keep.length).toBeGreaterThanOrEqual(maxRuns)
        // Nobody goes by count while an older one that could go stays.
        const youngestByCount = Math.max(
          ...remove
            .filter(({ reason }) => reason === 'count')
            .map(({ id }) => byId.get(id)?.startedAtMs ?? NaN),
          -Infinity,
        )
        expect(recent.every((found) => (found?.startedAtMs ?? NaN) >= youngestByCount)).toBe(true)
      }),
    )
  })

  test('the order the disk lists runs in does not matter, and a second cleaning finds nothing', () => {
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
  return { id, startedAtMs: now, flags: [], live: false, damaged: false, refersTo: [], ...overrides }
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
    }),
    { selector: (candidate) => candidate.id, maxLength: 45 },
  )
}
