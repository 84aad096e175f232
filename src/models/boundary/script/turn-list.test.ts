import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ScriptTurn } from './schema.ts'
import { createTurnList } from './turn-list.ts'

const busy = (times?: number): ScriptTurn => ({
  error: { status: 529, message: 'busy', ...(times !== undefined && { times }) },
})
const say = (text: string): ScriptTurn => ({ text })

test('without errors the same index always gets the same turn, and past the end the last one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string(), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(20), { maxLength: 40 }),
      (texts, asked) => {
        const list = createTurnList(texts.map(say), 'index')
        for (const answers of asked) {
          const { turn, number } = list.pick(answers)
          expect(turn.text).toBe(texts[Math.min(answers, texts.length - 1)])
          expect(number).toBe(answers + 1)
        }
      },
    ),
  )
})

test('an error is given as often as it says, then the turn behind it; the index of later turns does not move', () => {
  const list = createTurnList([say('a'), busy(2), busy(), say('b'), say('c')], 'index')
  const ask = (answers: number): string => list.pick(answers).turn.text ?? 'error'
  expect([0, 1, 1, 1, 1, 1, 2, 1, 2].map(ask)).toEqual([
    'a',
    'error',
    'error',
    'error',
    'b',
    'b',
    'c',
    'b',
    'c',
  ])
})

test('whatever errors stand in between, every answer is reached by its index', () => {
  const turns = fc.array(fc.oneof(fc.nat(3), fc.constant('answer' as const)), { maxLength: 12 })
  fc.assert(
    fc.property(turns, (plan) => {
      const written = [...plan, 'answer' as const]
      let texts = 0
      const list = createTurnList(
        written.map((step) => {
          if (step !== 'answer') return busy(step + 1)
          texts += 1
          return say(String(texts - 1))
        }),
        'index',
      )
      for (let index = 0; index < texts; index++) {
        let picked = list.pick(index).turn
        for (let tries = 0; picked.error !== undefined && tries < 60; tries++) picked = list.pick(index).turn
        expect(picked.text).toBe(String(index))
      }
    }),
  )
})

test('an error at the end goes on without end', () => {
  for (const pick of ['index', 'sequence'] as const) {
    const list = createTurnList([say('a'), busy()], pick)
    expect(list.pick(0).turn.text).toBe('a')
    for (let call = 0; call < 5; call++) expect(list.pick(1).turn.error?.status).toBe(529)
  }
})

test('in a sequence every call takes the next turn, whatever it holds, and the last one stays', () => {
  const list = createTurnList([say('a'), busy(2), say('b')], 'sequence')
  const given = Array.from({ length: 6 }, () => list.pick(7))
  expect(given.map(({ turn }) => turn.text ?? 'error')).toEqual(['a', 'error', 'error', 'b', 'b', 'b'])
  expect(given.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6])
})
