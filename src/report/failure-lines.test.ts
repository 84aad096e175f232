import { expect, test } from 'vitest'
import { splitReason } from './failure-lines.ts'

test('what an empty line sets apart stays as it is, line by line', () => {
  expect(splitReason('The call is  not known.\n\n-old  text\n+new text  \n')).toEqual({
    sentence: 'The call is not known.',
    lines: ['-old  text', '+new text'],
  })
})

test('a message that is only wrapped is one sentence', () => {
  expect(splitReason('one\ntwo\n  three')).toEqual({ sentence: 'one two three', lines: [] })
})

test('no line of it is a command to a CI service or a terminal', () => {
  expect(splitReason('x\n\n::error::pwn\n  ::set-output name=a::b\n\u001b[2J').lines).toEqual([
    ': :error::pwn',
    '  : :set-output name=a::b',
  ])
})
