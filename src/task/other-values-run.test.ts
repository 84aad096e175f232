import { expect, test } from 'vitest'
import type { KeptVerification } from './active-task.ts'
import { failsAgain, withOtherValues, withTwice } from './other-values-run.ts'

const node =
  "test('adds', () => {\n  assert.equal(add(1, 2), 3)\n})\ntest('zero', () => assert.equal(add(1, 0), 1))\n"

test.each([
  [node, ['adds'], node.replace('), 3)', '), 37)')],
  [
    node,
    ['zero'],
    node.replace(
      "'zero', () => assert.equal(add(1, 0), 1)",
      "'other zero', () => assert.equal(add(1, 0), 17)",
    ),
  ],
  [node, ['other'], node],
  [
    "it('a', () => {\n  expect(f('x')).toBe('y')\n})",
    ['a'],
    "it('a', () => {\n  expect(f('x')).toBe('other y')\n})",
  ],
  ['def test_a():\n    assert ok(1) == True\n', ['test_a'], 'def test_a():\n    assert ok(1) == False\n'],
  ['def test_a():\n    assert f(1) != 3\n', ['test_a'], 'def test_a():\n    assert f(1) != 3\n'],
  ['  assert(add(1, 2) == 3);', [], '  assert(add(1, 2) == 37);'],
  [
    'def test_a():\n    self.assertLessEqual(f(1), 3)\n',
    ['test_a'],
    'def test_a():\n    self.assertLessEqual(f(1), 3)\n',
  ],
  ["it('a', () => {\n  notStrictEqual(f(1), 3)\n})", ['a'], "it('a', () => {\n  notStrictEqual(f(1), 3)\n})"],
  [
    '@pytest.mark.parametrize("a, sum", [([1], 3), ([2, 0], 5)])\ndef test_a(a, sum):\n    assert f(a, {"x": 1}) == sum\n',
    ['test_a'],
    '@pytest.mark.parametrize("a, sum", [([1], 37), ([2, 0], 57)])\ndef test_a(a, sum):\n    assert f(a, {"x": 1}) == sum\n',
  ],
  [
    '@pytest.mark.parametrize("a, b", [(1, 3)])\ndef test_a(a, b):\n    assert f(a, b)\n',
    ['test_a'],
    '@pytest.mark.parametrize("a, b", [(1, 3)])\ndef test_a(a, b):\n    assert f(a, b)\n',
  ],
])('expects other values: %j %j', (text, names, other) => {
  expect(withOtherValues(text, names)).toBe(other)
})

test.each([
  ['  assert(add(1, 2) == 3);', [], '  assert(add(1, 2) == 3);\n  assert(add(1, 2) == 3);'],
  ['  int failed = same(add(1, 2), 3);', [], '  int failed = same(add(1, 2), 3);'],
  ['  assert.equal(count(), 3)', [], '  assert.equal(count(), 3)'],
  ...['use Test::More tests => 1;', '  t.plan(1)', '  expect.assertions(1)'].map(
    (plan): [string, [], string] => {
      const text = `${plan}\n  is(add(1, 2), 3);`
      return [text, [], text]
    },
  ),
  [
    "test('a', () =>\n  assert.equal(add(1, 2), 3)\n)",
    ['a'],
    "test('a', () =>\n  assert.equal(add(1, 2), 3)\n)",
  ],
  ["test('a', () =>\n  assert.equal(add(1, 2), 3))", ['a'], "test('a', () =>\n  assert.equal(add(1, 2), 3))"],
  ['fn a() {\n    assert_eq!(add(1, 2), 3)\n}', ['a'], 'fn a() {\n    assert_eq!(add(1, 2), 3)\n}'],
  [
    'fn a() {\n    assert_eq!(add(1, 2), 3);\n}',
    ['a'],
    'fn a() {\n    assert_eq!(add(1, 2), 3);\n    assert_eq!(add(1, 2), 3);\n}',
  ],
])('compares a call with values twice: %j', (text, names, twice) => {
  expect(withTwice(text, names)).toBe(twice)
})

test.each([
  [['adds'], {}, ['test/add.js: adds', 'other'], {}, false],
  [['adds'], {}, ['adds'], {}, true],
  [[], {}, [], {}, true],
  [[], {}, [], { command: 'npm run lint' }, false],
  [[], {}, [], { timed_out: true }, false],
  [[], {}, [], { killed: 'memory' }, false],
] as const)(
  'a run fails again where it failed before: %j %j, then %j %j',
  (...[before, first, now, then, fails]) => {
    const run = (failures: readonly string[], step: object) => {
      const failedStep = {
        index: 0,
        name: 'test',
        command: 'make test',
        exit_code: 1,
        timed_out: false,
        ...step,
      }
      const evidence = [{ kind: 'test', command: failedStep.command, exitCode: 1, failures }]
      return { status: 'FAIL', evidence, failedStep } as unknown as KeptVerification
    }
    expect(failsAgain(run(before, first), run(now, then))).toBe(fails)
  },
)
