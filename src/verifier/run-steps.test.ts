import { expect, test } from 'vitest'
import { testCountsOf } from '../guard-engine/evidence/judge-run.ts'
import { judgeStep } from './run-steps.ts'

const judged = (command: string, output: string, exitCode = 0) =>
  judgeStep({ command, output, exitCode, treeHash: 't', startedAt: '2026-01-01T00:00:00Z', durationMs: 1 })

test.each([
  ['npm test', '\n      Tests  3 passed (3)\n'],
  ['pytest', '=== 3 passed, 1 skipped in 0.12s ===\n'],
  ['sh check.sh', 'all well\n'],
  ['true', ''],
  // A summary in the output of a linter is not about the tests.
  ['eslint .', '=== no tests ran in 0.12s ===\n'],
  ['npm run build', '      Tests  no tests\n'],
])('%j that prints %j is a success', (command, output) => {
  expect(judged(command, output).fakeGreen).toBeNull()
})

test.each([
  ['pytest', '=== no tests ran in 0.12s ===\n', 'no test was executed'],
  ['pytest || true', '=== no tests ran in 0.12s ===\n', 'no test was executed'],
  ['sh run-all.sh', '=== no tests ran in 0.12s ===\n', 'no test was executed'],
  ['pytest', '=== 4 skipped in 0.12s ===\n', 'all 4 tests were skipped'],
  ['npm test', '      Tests  no tests\n', 'no test was executed'],
  ['pytest; true', '=== 1 failed, 2 passed in 0.12s ===\n', 'its output shows 1 failed test'],
])('%j that prints %j and exits with 0 is not a success', (command, output, why) => {
  expect(judged(command, output).fakeGreen).toContain(why)
})

test('a red run of Go shows only its failures, so a green one without a count is not silent', () => {
  const red =
    '--- FAIL: TestAdds (0.00s)\n    calc_test.go:7: adds\nFAIL\nFAIL\texample.com/calc\t0.002s\nFAIL\n'
  const facts = { treeHash: '', startedAt: '', durationMs: 1, command: 'go test ./...' }
  const { evidence } = judgeStep({ ...facts, exitCode: 1, output: red })
  expect(evidence).toMatchObject({ failed: 1, failures: expect.arrayContaining(['TestAdds']) })
  expect(evidence.executed).toBeUndefined()
  expect(testCountsOf('test', red)).toEqual({ failed: 1 })
})

test('a real failure is not fake green, and its counts are evidence', () => {
  const { evidence, fakeGreen } = judged('pytest', '=== 1 failed, 2 passed, 1 skipped in 0.12s ===\n', 1)
  expect(fakeGreen).toBeNull()
  expect(evidence).toMatchObject({
    kind: 'test',
    exitCode: 1,
    executed: 4,
    skipped: 1,
    failed: 1,
    treeHash: 't',
  })
})
