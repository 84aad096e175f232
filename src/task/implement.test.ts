import { expect, test } from 'vitest'
import { unchanged } from './implement.ts'

test('a task without a change names what was put back, but no cache', () => {
  const why = 'The Editor changed sub/a.js, which was put back: it is a file of a submodule'
  const notes = [
    'The Editor changed .cache/a, which was put back: it is a cache that is written again.',
    `${why}.`,
  ]
  const halt = unchanged({ known: { account: 'Done.', notes } })
  expect(halt.why).toEqual({
    kind: 'unchanged',
    reason: `no file was changed; ${why}. The Editor says: Done.`,
  })
})
