import { expect, test } from 'vitest'
import { sampleRecord, sampleRun, textSink } from '../../test/support/sample-run.ts'
import type { Verdict } from '../core/verdict.ts'
import { changeLines, splitReason } from './failure-lines.ts'
import { openReporter } from './index.ts'

test('a block after an empty line is kept line by line', () => {
  expect(splitReason('The call is  not known.\n\n-old  text\n+new text  \n')).toEqual({
    sentence: 'The call is not known.',
    lines: ['-old  text', '+new text'],
  })
})

test('a message that is only wrapped is one sentence', () => {
  expect(splitReason('one\ntwo\n  three')).toEqual({ sentence: 'one two three', lines: [] })
})

test('no line is a command to a CI service or a terminal', () => {
  expect(splitReason('x\n\n::error::pwn\n  ::set-output name=a::b\n\u001b[2J').lines).toEqual([
    ': :error::pwn',
    '  : :set-output name=a::b',
  ])
})

test.each([
  ['console', true, false],
  ['junit', true, true],
  ['tap', true, true],
  ['json', true, true],
  ['md', true, false],
])(
  '%s shows the prompt and the changes of a trial that did not pass, and what has room of one that passed',
  async (name, ...expected) => {
    const shows = async (verdict: Verdict) => {
      const sink = textSink()
      const reporter = await openReporter(name, { sink, color: false, columns: 80, live: false })
      const run = sampleRun([sampleRecord({ verdict, prompt: 'Add the milk.' })], {
        workspaceDiff: () => '--- a\n+++ b\n+[ ] milk\n',
      })
      await reporter.runEnded?.(run)
      const hasPrompt = sink.text().includes('Add the milk.')
      return [hasPrompt, sink.text().includes('+[ ] milk')]
    }
    const [ofFailed, ofPassed] = expected
    for (const verdict of ['fail', 'infra', 'invalid'] as const)
      expect(await shows(verdict), verdict).toEqual([true, ofFailed])
    expect(await shows('pass')).toEqual([name !== 'console', ofPassed])
  },
)

test('of long changes the beginning is shown, line by line', () => {
  expect(changeLines('+a\n+b\u001b[31m\n+c\n', { maxDiffLines: 2 })).toEqual([
    'changes in the workspace (first 2 of 3 lines):',
    '    | +a',
    '    | +b',
  ])
  expect(changeLines('\n')).toEqual([])
  expect(changeLines(null)).toEqual([])
})
