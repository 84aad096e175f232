import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readAnswer, type ScriptResult } from './scripts.ts'

const evaluator = { name: 'e', command: 'x', timeout_secs: 60 }
const ran = (changes: Partial<ScriptResult>): ScriptResult => ({
  exit_code: 0,
  stdout: '',
  stderr: '',
  timed_out: false,
  problem: null,
  duration_ms: 1,
  ...changes,
})

test.each<[string, Partial<ScriptResult>, Record<string, unknown>]>([
  ['an empty object', { stdout: '{}' }, { name: 'e' }],
  [
    'all three parts',
    { stdout: '{"metrics":{"a":1},"score":1,"summary":"s"}' },
    { name: 'e', metrics: { a: 1 }, score: 1, summary: 's' },
  ],
  ['keys of its own beside them', { stdout: '{"score":0,"more":true}' }, { name: 'e', score: 0 }],
  [
    'a bad score beside good fields, and null for an absent one',
    { stdout: '{"score":7,"summary":"fine","metrics":null}' },
    { name: 'e', summary: 'fine', error: expect.stringMatching(/^score: /) },
  ],
  ['words', { stdout: 'all fine\n' }, { name: 'e', summary: 'all fine', error: 'output is not JSON' }],
  ['nothing', {}, { name: 'e', error: 'printed nothing' }],
  ['a timeout', { timed_out: true, exit_code: -1 }, { name: 'e', error: 'timed out after 60 s' }],
  [
    'an exit code',
    { exit_code: 2, stderr: 'bad\n', stdout: '{"score":1}' },
    { name: 'e', error: 'exit code 2: bad' },
  ],
  ['a signal', { exit_code: -1, problem: 'ended by SIGKILL' }, { name: 'e', error: 'ended by SIGKILL' }],
])('an evaluator that answers with %s', (_what, result, expected) => {
  expect(readAnswer(evaluator, ran(result))).toEqual(expected)
})

test.each(['[]', '"x"', '1', 'null', '{"score":2}', '{"score":"1"}', '{"metrics":[]}', '{"summary":1}'])(
  'an invalid answer becomes an error: %s',
  (stdout) => {
    const answer = readAnswer(evaluator, ran({ stdout }))
    expect(answer.error).toBeTypeOf('string')
    expect(answer.score).toBeUndefined()
  },
)

test('any output gives a result and never an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (stdout) => {
      expect(readAnswer(evaluator, ran({ stdout })).name).toBe('e')
    }),
  )
})
