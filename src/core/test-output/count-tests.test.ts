import { describe, expect, test } from 'vitest'
import { type Evidence, newFailures } from '../evidence.ts'
import { countTests, failedTests, withoutEscapes } from './count-tests.ts'

describe('a summary is found despite terminal control sequences', () => {
  test.each([
    ['colours', '\u001b[1m\u001b[32m 3 passed\u001b[39m\u001b[22m'],
    ['a title', '\u001b]0;tests\u0007 3 passed'],
    ['a link', '\u001b]8;;file:///x\u001b\\ 3 passed\u001b]8;;\u001b\\'],
    ['cursor moves', '\u001b[2K\u001b[1G\u001b(B 3 passed'],
    ['one-byte control sequences', '\u009b32m 3 passed\u009b0m'],
  ])('%s', (_, text) => {
    expect(withoutEscapes(text)).toBe(' 3 passed')
  })

  test('counts the tests of a coloured run', () => {
    const output =
      '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m3 passed\u001b[39m\u001b[22m\u001b[90m (3)\u001b[39m\r\n'
    expect(countTests(output)).toEqual({ executed: 3, skipped: 0, failed: 0 })
  })
})

test('an output without a summary gives null', () => {
  expect(countTests('compiled in 3s\n')).toBeNull()
})

test.each([
  [
    'pytest',
    'FAILED tests/test_a.py::test_x - assert 1 == 2\nERROR tests/test_b.py - ImportError\n',
    ['tests/test_a.py::test_x', 'tests/test_b.py'],
  ],
  ['unittest', 'FAIL: test_a (test_x.T.test_a)\n', ['test_a (test_x.T.test_a)']],
  [
    'go',
    '--- FAIL: TestAdd (0.00s)\n    add_test.go:5: no\nFAIL\tshop/b [build failed]\n',
    ['TestAdd', 'shop/b [build failed]'],
  ],
  [
    'a package of Go whose tests ended',
    '--- FAIL: TestBad (0.00s)\n    a_test.go:6: no\nFAIL\nFAIL\tshop/store\t0.016s\nok  \tshop/text\t(cached)\nFAIL\n',
    ['TestBad', 'shop/store'],
  ],
  [
    'a package of Go that a panic ended',
    '--- FAIL: TestBad (0.00s)\npanic: boom\n\ngoroutine 7 [running]:\n\t/a.go:17 +0x390\nFAIL\tshop/store\t0.016s\nFAIL\n',
    ['TestBad', 'panic: boom', 'shop/store'],
  ],
  [
    'a package of Go that exited beside one that failed',
    '--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tshop/a\t0.016s\nno database\nFAIL\tshop/b\t0.008s\nFAIL\n',
    ['TestBad', 'shop/a', 'shop/b\t0.008s'],
  ],
  ['a package of Go that exited', 'no database\nFAIL\tshop/b\t0.008s\nFAIL\n', []],
  [
    'ctest',
    'The following tests FAILED:\n\t  1 - area (Subprocess aborted)\n\t  2 - sum (SEGFAULT)\n\t  3 - old (Skipped)\n',
    ['area', 'sum'],
  ],
  ['cargo --quiet', '.F\nfailures:\n\n---- math::adds stdout ----\n', ['math::adds']],
  ['cargo', 'test math::adds ... FAILED\ntest math::subs ... ok\n', ['math::adds']],
  ['jest', 'FAIL src/a.test.js\n  ● sum › adds\n', ['src/a.test.js', 'sum › adds']],
  ['vitest', ' FAIL  src/a.test.ts > sum > adds\n', ['src/a.test.ts > sum > adds']],
  [
    'vitest with a list',
    '   × sum > adds 3ms\n   × subs 3ms\n FAIL  a.test.ts > sum > adds\n',
    ['a.test.ts > sum > adds', 'subs'],
  ],
  ['node', '✖ adds (0.5ms)\n✔ subs (0.1ms)\n', ['adds']],
  [
    'node with suites',
    '▶ math\n  ✖ adds (1.5ms)\n  ▶ inner\n    ✖ math (1.7ms)\n  ✖ inner (2.1ms)\n✖ math (9ms)\n\n✖ failing tests:\n\ntest at a.js:2:26\n✖ adds (1.5ms)\n\ntest at a.js:3:1\n✖ math (1.7ms)\n',
    ['adds', 'math'],
  ],
  [
    'node with a suite that fails itself',
    '▶ math\n  ✔ adds (1.5ms)\n✖ math (9ms)\n\n✖ failing tests:\n\ntest at a.js:2:26\n✖ math (9ms)\n',
    ['math'],
  ],
  ['node with an invented suite', '▶ adds\n  ✖ x (1ms)\n✖ adds (0.5ms)\n✔ subs (0.1ms)\n', ['adds', 'x']],
  ['tap', 'not ok 2 - adds\nok 3 - subs\n', ['adds']],
  ['rspec', 'rspec ./spec/a_spec.rb:4 # adds\n', ['./spec/a_spec.rb:4']],
  ['gradle', 'ShopTest > adds() FAILED\n', ['ShopTest > adds()']],
  ['nothing', 'all fine\n', []],
])('names the failed tests of %s', (_, output, names) => {
  expect(failedTests(output)).toEqual(names)
})

const red = (change: Partial<Evidence>): Evidence => ({
  kind: 'test',
  command: 'npm test',
  exitCode: 1,
  treeHash: 'T',
  startedAt: '2026-01-01T00:00:00Z',
  durationMs: 1,
  ...change,
})

test('failures are new unless they were there before, and unknown when the output does not tell', () => {
  const old = red({ failures: ['a', 'b'], failed: 2 })
  expect(newFailures(red({ failures: ['a'], failed: 1 }), old)).toEqual([])
  expect(newFailures(red({ failures: ['a', 'c'], failed: 2 }), old)).toEqual(['c'])
  expect(newFailures(red({ failures: ['a'], failed: 5 }), old)).toBeNull()
  expect(newFailures(red({ error: 'e' }), red({ error: 'e' }))).toEqual([])
  expect(newFailures(red({ error: 'e' }), red({ error: 'f' }))).toBeNull()
  expect(newFailures(red({}), red({}))).toBeNull()
})
