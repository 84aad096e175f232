import { expect, test } from 'vitest'
import { type JudgedRun, judgeIteration } from './judge-iteration.ts'

const green: JudgedRun = {
  kind: 'test',
  command: 'npm test',
  exitCode: 0,
  treeHash: 't',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1,
  status: 'green',
  tail: ['all fine'],
}
const red: JudgedRun = { ...green, command: 'npm run lint', exitCode: 2, status: 'red', tail: ['semicolon'] }

function judge(runs: readonly JudgedRun[], changed: readonly string[] = ['src/a.ts']) {
  const isGreen = runs.length > 0 && runs.every(({ status }) => status === 'green')
  return judgeIteration({ runs, isGreen, changed, plan: 'PLAN.md' })
}

test('with green runs and a changed file, the task is done', () => {
  expect(judge([green, green])).toEqual({ kind: 'done', reason: '2 commands green, 1 file changed' })
})

test.each([
  ['nothing ran', [], ['a'], 'the project declares no verification command'],
  ['nothing changed', [green], [], 'no file except PLAN.md changed since the task was started'],
  ['one is red', [green, red], ['a'], 'npm run lint failed with exit code 2'],
  [
    'tests failed although it ended with 0',
    [{ ...green, status: 'red', failed: 2 }],
    ['a'],
    'npm test failed with exit code 0 and 2 failed tests',
  ],
  ['no tests ran', [{ ...green, status: 'hollow' }], ['a'], 'npm test ran no tests'],
  [
    'the run does not count',
    [{ ...green, status: 'not_counted', notCounted: 'it ran into the time limit' }],
    ['a'],
    'npm test proves nothing: it ran into the time limit',
  ],
  [
    'two are red',
    [red, { ...red, command: 'tsc' }],
    ['a'],
    'npm run lint failed with exit code 2; also not green: tsc',
  ],
] as const)('%s: not done', (_, runs, changed, reason) => {
  expect(judge(runs as readonly JudgedRun[], changed)).toMatchObject({
    kind: 'not_done',
    failure: { reason },
  })
})

test('the failure carries the last lines of the first command that failed', () => {
  expect(judge([green, red])).toMatchObject({ failure: { tail: ['semicolon'] } })
})
