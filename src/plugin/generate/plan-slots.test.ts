import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distribution, diversity, planSlots } from './plan-slots.ts'

const wishes = fc.record({
  total: fc.integer({ min: 1, max: 20 }),
  componentType: fc.constantFrom('skill' as const, 'agent' as const),
  semantic: fc.boolean(),
  diversity: fc.double({ min: 0, max: 1, noNaN: true }),
  hasRival: fc.boolean(),
})

test('the counts per type always add up to the total', () => {
  fc.assert(
    fc.property(wishes, ({ total, componentType, semantic }) => {
      const counts = distribution(total, { componentType, semantic })
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(total)
      expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(0)
      expect(counts.direct).toBe(Math.max(1, Math.ceil((3 * total) / 10)))
      if (componentType === 'agent' || !semantic) expect(counts.semantic).toBe(0)
      if (componentType === 'skill') expect(counts.proactive).toBe(0)
      if (total > 1) expect(counts.negative).toBeGreaterThan(0)
    }),
  )
})

test.each([
  ['skill', true, 1, { direct: 1 }],
  ['skill', true, 2, { direct: 1, negative: 1 }],
  ['skill', true, 5, { direct: 2, semantic: 1, paraphrased: 1, negative: 1 }],
  ['skill', false, 5, { direct: 2, paraphrased: 1, edge_case: 1, negative: 1 }],
  ['skill', true, 10, { direct: 3, semantic: 2, paraphrased: 2, edge_case: 2, negative: 1 }],
  ['skill', true, 20, { direct: 6, semantic: 4, paraphrased: 4, edge_case: 3, negative: 3 }],
  ['agent', true, 2, { direct: 1, negative: 1 }],
  ['agent', true, 3, { direct: 1, paraphrased: 1, negative: 1 }],
  ['agent', true, 5, { direct: 2, paraphrased: 1, proactive: 1, negative: 1 }],
  ['agent', true, 10, { direct: 3, paraphrased: 3, edge_case: 1, proactive: 1, negative: 2 }],
] as const)('%s, semantic %s, %i scenarios: %j', (componentType, semantic, total, expected) => {
  const counts = distribution(total, { componentType, semantic })
  expect(Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))).toEqual(expected)
})

test.each([
  [5, 1, 5, 1],
  [5, 0.7, 4, 2],
  [10, 0.7, 7, 2],
  [10, 0.3, 3, 4],
  [5, 0.2, 1, 5],
  [20, 0, 2, 10],
  [20, 2, 20, 1],
])(
  '%i scenarios with a diversity of %d have %i ideas in at most %i variations',
  (total, degree, base, each) => {
    expect(diversity(total, degree)).toEqual({ baseCount: base, variationsPerBase: each })
  },
)

test('every slot has a type of the distribution and an idea, and no idea exceeds its number of variations', () => {
  fc.assert(
    fc.property(wishes, (wish) => {
      const slots = planSlots(wish)
      const { baseCount, variationsPerBase } = diversity(wish.total, wish.diversity)
      const perBase = Map.groupBy(slots, ({ base }) => base)
      expect(perBase.size).toBe(baseCount)
      for (const variations of perBase.values())
        expect(variations.length).toBeLessThanOrEqual(variationsPerBase)
      const counts = distribution(wish.total, wish)
      for (const [type, ofType] of Map.groupBy(slots, (slot) => slot.type)) {
        expect(ofType).toHaveLength(counts[type])
        expect(ofType.map(({ index }) => index)).toEqual(ofType.map((_, at) => at + 1))
      }
      expect(new Set(slots.map(({ id }) => id)).size).toBe(wish.total)
    }),
  )
})

test('negatives begin with a near miss, aimed at the rival if there is one; semantic ones rotate through the variations', () => {
  const plan = (hasRival: boolean) =>
    planSlots({ componentType: 'skill', total: 20, diversity: 1, semantic: true, hasRival })
  expect(plan(false).flatMap(({ negative }) => negative ?? [])).toEqual([
    'near_miss',
    'unrelated',
    'near_miss',
  ])
  expect(plan(true).flatMap(({ negative }) => negative ?? [])).toEqual([
    'neighbour',
    'near_miss',
    'unrelated',
  ])
  expect(plan(true).flatMap(({ variation }) => variation ?? [])).toEqual([
    'synonym',
    'related_concept',
    'structure',
    'informal',
  ])
})
