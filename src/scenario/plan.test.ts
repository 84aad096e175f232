import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseShard, planTrials, shardTrials, slug } from './plan.ts'

const cases = (count: number, combinations: { agent: string; model: string }[]) =>
  Array.from({ length: count }, (_, index) => ({
    case: { name: `case ${index}` } as never,
    combinations,
  }))

describe('planTrials', () => {
  test('shards are disjoint, complete, have whole cases, and differ by at most one case', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 7 }),
        (caseCount, agentCount, repeat, count) => {
          const combinations = Array.from({ length: agentCount }, (_, index) => ({
            agent: `a${index}`,
            model: 'm',
          }))
          const plan = cases(caseCount, combinations)
          const whole = planTrials(plan, { repeat })
          const cut = (caseMs?: Record<string, number>) =>
            Array.from({ length: count }, (_, index) =>
              shardTrials(whole, { index: index + 1, count }, caseMs),
            )
          const parts = cut()
          for (const some of [parts, cut({ 'case 0': 0, 'case 1': 70, gone: 5 })])
            expect(some.flat().sort((x, y) => (x.id < y.id ? -1 : 1))).toEqual(whole)
          const sizes = parts.map((part) => new Set(part.map((trial) => trial.case)).size)
          expect(parts.map((part) => part.length)).toEqual(sizes.map((size) => size * agentCount * repeat))
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
        },
      ),
    )
  })

  test('a seed interleaves the arms of every case and attempt, and changes nothing else', () => {
    const plan = cases(30, [
      { agent: 'a', model: 'm' },
      { agent: 'b', model: 'm' },
    ])
    const plain = planTrials(plan, { repeat: 2 })
    const mixed = planTrials(plan, { repeat: 2, seed: 1 })
    expect(mixed).toEqual(planTrials(plan, { repeat: 2, seed: 1 }))
    expect(mixed).not.toEqual(planTrials(plan, { repeat: 2, seed: 2 }))
    expect(mixed.toSorted((x, y) => (x.id < y.id ? -1 : 1))).toEqual(plain)
    const pairs = Array.from({ length: 60 }, (_, index) => mixed.slice(2 * index, 2 * index + 2))
    for (const [one, other] of pairs) expect([one?.case, one?.attempt]).toEqual([other?.case, other?.attempt])
    const firsts = pairs.filter(([one]) => one?.agent === 'a').length
    expect(firsts).toBeGreaterThan(15)
    expect(firsts).toBeLessThan(45)
  })

  test('a shard has every agent of its cases', () => {
    const plan = cases(
      4,
      ['a', 'b'].map((agent) => ({ agent, model: 'm' })),
    )
    for (const index of [1, 2]) {
      const part = shardTrials(planTrials(plan, { repeat: 1 }), { index, count: 2 })
      expect(part.map(({ agent }) => agent)).toEqual(['a', 'b', 'a', 'b'])
      expect(new Set(part.map((trial) => trial.case)).size).toBe(2)
    }
  })

  test('shards are balanced by the time that the cases took', () => {
    const whole = planTrials(cases(5, [{ agent: 'a', model: 'm' }]), { repeat: 2 })
    const caseMs = { 'case 0': 10, 'case 1': 10, 'case 2': 10, 'case 4': 40 }
    const parts = [1, 2, 3].map((index) =>
      [...new Set(shardTrials(whole, { index, count: 3 }, caseMs).map((trial) => trial.case))].sort(),
    )
    // Case 3 has no history and counts as the mean of the others.
    expect(parts).toEqual([['case 4'], ['case 2', 'case 3'], ['case 0', 'case 1']])
  })

  test('a shard beyond the number of cases is empty, whatever their number', () => {
    const whole = planTrials(cases(2, [{ agent: 'a', model: 'm' }]), { repeat: 1 })
    expect(shardTrials(whole, { index: 3, count: 1_000_000_000 })).toEqual([])
    expect(shardTrials([], { index: 1, count: 2 })).toEqual([])
  })

  test('ids are unique and safe as directory names', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), fc.string(), (names, model) => {
        const plan = names.map((name) => ({
          case: { name } as never,
          combinations: [{ agent: name, model }],
        }))
        const ids = planTrials(plan, { repeat: 2 }).map(({ id }) => id)
        expect(new Set(ids).size).toBe(names.length * 2)
        for (const id of ids) expect(id).toMatch(/^[a-z0-9][a-z0-9-]{0,149}$/)
      }),
    )
  })

  test('every case runs once before any is repeated', () => {
    const plan = planTrials(cases(3, [{ agent: 'a', model: 'm' }]), { repeat: 2 })
    expect(plan.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 2, 2, 2])
  })
})

test.each(['', '1', '1/', '/2', '0/2', '3/2', '-1/2', '1/2/3', '1.5/2', ' 1/2'])(
  'parseShard refuses %j',
  (text) => {
    expect(() => parseShard(text)).toThrow('--shard')
  },
)

test('a slug is never empty and keeps allowed characters', () => {
  expect(slug('Über: Größe/2')).toBe('u-ber-gro-e-2')
  expect(slug('日本')).toBe('x')
})
