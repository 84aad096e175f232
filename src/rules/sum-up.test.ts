import { expect, test } from 'vitest'
import { historyFold } from '../guard-engine/history/index.ts'
import { sessionSummary } from './sum-up.ts'

test('the summary is one sentence in plain words, and nothing is said when nothing happened', () => {
  const { initial } = historyFold
  expect(sessionSummary(initial)).toBeNull()
  const sums = { denied: 1, refused: 2, noticed: 1 }
  const history = { ...initial, session: { ...initial.session, sums } }
  expect(sessionSummary(history, 'VERIFIED')).toBe(
    'Gantry guard, in this session: 1 call denied, 2 stops refused, 1 warning given; last seen green: no check; the last stop ended VERIFIED.',
  )
  expect(sessionSummary(history)).toContain('; no stop was judged.')
})
