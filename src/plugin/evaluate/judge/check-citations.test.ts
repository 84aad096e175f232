import fc from 'fast-check'
import { expect, test } from 'vitest'
import { called, said, transcriptOf } from '../../../../test/support/plugin-trial.ts'
import { checkCitations } from './judge-trial.ts'

const transcript = transcriptOf([
  said('evt_1', 'user', 'Say hello to Bob.\n  Please do.'),
  called('evt_2', 'Skill', { skill: 'demo:greet' }, 'Gladly.'),
])
const claim = (message_id: string, quoted_text: string) => ({ description: 'd', message_id, quoted_text })

test('a citation whose text is in its message is kept, with its position', () => {
  const { standing, dropped } = checkCitations([claim('evt_1', 'hello to Bob')], transcript)
  expect(standing).toEqual([
    {
      description: 'd',
      message_id: 'evt_1',
      quoted_text: 'hello to Bob',
      position_start: 4,
      position_end: 16,
    },
  ])
  expect(dropped).toBe(0)
})

test('a tool and its input can be cited too', () => {
  const { standing } = checkCitations([claim('evt_2', '"skill":"demo:greet"')], transcript)
  expect(standing).toMatchObject([{ position_start: 'Gladly.\ncalls Skill {'.length }])
})

test('white space may differ, and the text of the transcript is kept', () => {
  const { standing } = checkCitations([claim('evt_1', ' Bob. Please\tdo. ')], transcript)
  expect(standing).toMatchObject([
    { quoted_text: 'Bob.\n  Please do.', position_start: 13, position_end: 30 },
  ])
})

test.each([
  ['words that are not there', claim('evt_1', 'Say goodbye')],
  ['another spelling', claim('evt_1', 'say hello')],
  ['words of another message', claim('evt_2', 'Say hello to Bob')],
  ['a message that is not there', claim('evt_9', 'Say hello to Bob')],
  ['no words', claim('evt_1', ' \n')],
])('%s are dropped and counted', (_, citation) => {
  expect(checkCitations([citation, claim('evt_2', 'Gladly')], transcript)).toMatchObject({
    standing: [{ message_id: 'evt_2' }],
    dropped: 1,
  })
})

test('every kept citation is found at its position', () => {
  const word = fc.constantFrom('a', 'b', ' ', '\n', '  ', '😀', '.')
  const words = fc.array(word, { maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(words, words, (text, quote) => {
      const { standing } = checkCitations([claim('m', quote)], transcriptOf([said('m', 'user', text)]))
      for (const { quoted_text, position_start = -1, position_end = -1 } of standing) {
        expect(text.slice(position_start, position_end)).toBe(quoted_text)
        expect(quoted_text.replaceAll(/\s+/g, '')).toBe(quote.replaceAll(/\s+/g, ''))
      }
      if (quote.trim() !== '' && text.includes(quote)) expect(standing).toHaveLength(1)
    }),
  )
})
