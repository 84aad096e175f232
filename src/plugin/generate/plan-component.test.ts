import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleConfig } from '../../../test/support/sample-analysis.ts'
import { batchSlots } from './plan-component.ts'
import { planSlots } from './plan-slots.ts'

const slots = (total: number, degree: number) =>
  planSlots({ componentType: 'skill', total, diversity: degree, semantic: true, hasRival: false })

test('a batch fits the likely length of its answer, and semantic slots have their own limit', () => {
  const config = sampleConfig({
    generation: { max_tokens: 4_000, reasoning_effort: 'none' },
    tuning: { token_estimates: { output_per_scenario: 1_000, semantic_gen_max_tokens: 600 } },
  })
  const batches = batchSlots(slots(10, 1), config)
  expect(batches.map(({ slots: some }) => some.map(({ type }) => type))).toEqual([
    ['direct', 'direct', 'direct', 'paraphrased'],
    ['paraphrased', 'edge_case', 'edge_case', 'negative'],
    ['semantic', 'semantic'],
  ])
  expect(batches.map(({ maxTokens }) => maxTokens)).toEqual([4_000, 4_000, 600])
})

test('the limit for semantic slots leaves room for thinking, but never exceeds max_tokens', () => {
  const limits = (effort: string, most: number) =>
    batchSlots(slots(5, 1), sampleConfig({ generation: { max_tokens: most, reasoning_effort: effort } })).at(
      -1,
    )?.maxTokens
  expect(limits('none', 8_000)).toBe(1_000)
  expect(limits('medium', 8_000)).toBe(3_400)
  expect(limits('high', 1_500)).toBe(1_500)
})

test('every slot is requested once, slots of one idea together where they fit', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1_000, max: 32_000 }),
      (total, degree, max_tokens) => {
        const plan = slots(total, degree)
        const batches = batchSlots(plan, sampleConfig({ generation: { max_tokens } }))
        expect(batches.flatMap((batch) => batch.slots.map(({ id }) => id)).toSorted()).toEqual(
          plan.map(({ id }) => id).toSorted(),
        )
      },
    ),
  )
  const [first] = batchSlots(slots(10, 0.3), sampleConfig())
  expect(first?.slots.map(({ base }) => base)).toEqual(['b1', 'b1', 'b1', 'b2', 'b2', 'b3', 'b3', 'b3'])
})
