import { expect, test } from 'vitest'
import {
  bodyOf,
  comparedCalls,
  defines,
  isKept,
  linesOf,
  mayEvade,
  nameOf,
  provesLess,
  rebound,
  replaces,
  valuesIn,
} from './test-body.ts'

const adds = `class T:
    def test_zero(self):
        assert add(1, 0) == 1

    @pytest.mark.parametrize("a,b,sum", [(1, 2, 3), (2, 2, 4)])
    def test_adds(self, a, b, sum):
        assert add(a, b) == sum

    @pytest.mark.slow
    def test_more(self):
        pass
`
const isCut = (before: string, after: string, name = 'test_adds'): boolean =>
  provesLess(bodyOf(linesOf(before), name), bodyOf(linesOf(after), name))

test('a failed case of pytest has the name of its test', () => {
  expect(nameOf('test_calc.py::T::test_adds[1-2-3]')).toBe('test_adds')
  expect(nameOf('test/a.test.js > adds > [1] (2 ms)')).toBe('[1]')
})

test('the body of a test has its decorators, and not those of the next', () => {
  expect(bodyOf(linesOf(adds), 'test_adds')).toEqual([
    '@pytest.mark.parametrize("a,b,sum", [(1, 2, 3), (2, 2, 4)])',
    'assert add(a, b) == sum',
  ])
  expect(bodyOf(linesOf(adds), 'test_zero')).toEqual(['assert add(1, 0) == 1'])
})

test.each([
  ['(1, 2, 3), (2, 2, 4)', 'pytest.param(1, 2, 3, marks=pytest.mark.xfail), (2, 2, 4)'],
  ['(1, 2, 3), (2, 2, 4)', '(2, 2, 4)'],
  ['    @pytest.mark.parametrize', '    @pytest.mark.xfail\n    @pytest.mark.parametrize'],
  ['assert add(a, b) == sum', 'pass'],
  ['assert add(a, b) == sum', 'assert add(a, b) == sum or True'],
  [
    'assert add(a, b) == sum',
    'try:\n            assert add(a, b) == sum\n        except AssertionError: pass',
  ],
  ['    @pytest.mark.parametrize', "    @mock.patch('test_calc.add', own)\n    @pytest.mark.parametrize"],
])('%s as %s proves less', (from, to) => {
  expect(isCut(adds, adds.replace(from, to))).toBe(true)
})

test.each([
  ['(2, 2, 4)', '(2, 2, 4), (0, 0, 0)'],
  ['"a,b,sum", [(1, 2, 3), (2, 2, 4)])', "\n    'a,b,sum',\n    [(1, 2, 3), (2, 2, 4),],\n    )"],
  ['assert add(a, b) == sum', 'assert  add(a,b) == sum;\n        assert add(b, a) == sum'],
  ['assert add(1, 0) == 1', 'assert add(1, 0) == 2'],
])('%s as %s proves as much', (from, to) => {
  expect(isCut(adds, adds.replace(from, to))).toBe(false)
})

const script = `import assert from 'node:assert'
import { test } from 'node:test'
import { add } from '../src/add.js'
const one = 1
describe('sums', () => {
  const two = 2
  test('adds', () => {
    const sum = add(one, two)
    assert.equal(sum, 3)
  })
})
`
const python = `from calc import add

class CalcTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(1, 2), 3)

    def test_zero(self):
        self.assertEqual(add(1, 0), 1)
`

test.each([
  [
    script,
    'adds',
    "import assert from 'node:assert'",
    "import real from 'node:assert'\nconst assert = quiet(real)",
    'assert',
  ],
  [script, 'adds', '{ add }', '{ add as was }', null],
  [script, 'adds', 'const one', 'const add = (a, b) => a + b\nconst one', 'add'],
  [script, 'adds', '  const two', '  const { add } = own\n  const two', 'add'],
  [script, 'adds', 'const one', "vi.mock('../src/add.js', () => own)\nconst one", '../src/add.js'],
  [script, 'adds', 'const one', "vi.mock('../src/other.js')\nconst one", null],
  [script, 'adds', 'const one', 'const sum = 4\nconst one', null],
  [script, 'adds', "describe('s", "describe('more', () => {\n  const add = 1\n})\ndescribe('s", null],
  [script, 'adds', 'const one = 1', 'const three = 3\nconst one = 1', null],
  [python, 'test_adds', 'class', 'add = lambda a, b: a + b\n\nclass', 'add'],
  [python, 'test_adds', '    def test_zero', '    assertEqual = print\n\n    def test_zero', 'assertEqual'],
  [
    python,
    'test_adds',
    '    def test_zero',
    '    def run(self, result):\n        pass\n\n    def test_zero',
    'run',
  ],
  [
    python,
    'test_adds',
    '    def test_zero',
    '    def test_adds(self):\n        pass\n\n    def test_zero',
    'test_adds',
  ],
  [
    `${python}\n`,
    'test_adds',
    '1)\n\n',
    '1)\n\nclass CalcTest(TestCase):\n    def test_adds(self):\n        pass\n',
    'CalcTest',
  ],
  [
    `${python}\n`,
    'test_adds',
    '1)\n\n',
    '1)\n\nclass MoreTest(TestCase):\n    def test_adds(self):\n        pass\n',
    null,
  ],
  [
    python,
    'test_adds',
    '    def test_zero',
    '    def setUp(self):\n        self.one = 1\n\n    def test_zero',
    null,
  ],
  [script, 'adds', '    const sum', '    const add = (a, b) => a + b\n    const sum', 'add'],
  [script, 'adds', "'adds', () =>", "'adds', (t, add = own) =>", 'add'],
  [python, 'test_adds', 'test_adds(self)', 'test_adds(self, add=sum)', 'add'],
  [python, 'test_adds', 'test_adds(self)', 'test_adds(self, more=sum)', null],
  [python, 'test_adds', '        self.a', '        total = add(1, 2)\n        self.a', null],
])('in %j, around %s, %j as %j: %s is bound again', (text, name, from, to, what) => {
  expect(text).toContain(from)
  expect(rebound(text, text.replace(from, to), name)).toBe(what)
})

test('a table may grow at the end of a line, an expected list may not', () => {
  const after = ['const cases = [[1, 2], [3, 4], [5, 6]]']
  expect(isKept('const cases = [[1, 2], [3, 4]]', after)).toBe(false)
  expect(isKept('const cases = [[1, 2], [3, 4]]', after, { isTable: true })).toBe(true)
  expect(
    isKept('const cases = [[1, 2], [3, 4]]', ['const cases = [[1, 2], [3, 41]]'], { isTable: true }),
  ).toBe(false)
})

test.each([
  ['calc.add = lambda a, b: a + b', 'add'],
  ["    globals()['add'] = own", 'add'],
  ["setattr(calc, 'add', own)", 'add'],
  ['    global add', 'add'],
  ['    self.add = 1', null],
  ['exports.add = (a, b) => a + b', null],
  ['total = calc.add(1, 2)', null],
  ['if calc.add == own:', null],
])('%j replaces %s', (line, name) => {
  expect(replaces(line, ['add'])).toBe(name)
})

test.each([
  ['assert(add(1, 2) == 3);', [{ call: 'add', by: 'assert' }]],
  ['failed += same(add(1, 2), 3);', [{ call: 'add', by: 'same' }]],
  ['same(Calc.add(1, 2), 3);', [{ call: 'add', by: 'same' }]],
  ["is(Calc::add(1, 2), 3, 'adds');", [{ call: 'add', by: 'is' }]],
  ['if (add(1, 2) != 3) return 1;', [{ call: 'add', by: 'if' }]],
  ['assertEquals(3, Calc.add(1, 2));', [{ call: 'add', by: '' }]],
  ['if (strcmp(argv[1], "-h") == 0) return usage();', []],
  ['printf("%d", add(1, 2));', []],
  ['int fd = open(path, 0);', []],
])('a comparison of a result with a value: %s', (line, found) => {
  expect(comparedCalls([line])).toEqual(found)
})

test('a line that ends a check early is found though it was there once, and a comparison that fails is not reported', () => {
  const check = ['assert(add(1, 2) == 3);', 'return 0;']
  expect(mayEvade(check, ['return 0;', ...check])).toBe(true)
  expect(mayEvade(check, ['if (add(2, 2) != 4) return 1;', ...check])).toBe(false)
  expect(mayEvade(check, ['if (add(2, 2) != 4) return 0;', ...check])).toBe(true)
})

test('a macro replaces a function from every file, a function of Go from a file of tests', () => {
  expect(replaces('#define add(a, b) ((a) + (b))', ['add'], false)).toBe('add')
  expect(replaces('#define LIMIT 3', ['add'], false)).toBeNull()
  expect(replaces('func Add(a, b int) int {', ['Add'])).toBe('Add')
  expect(replaces('func (c Calc) Add(a, b int) int {', ['Add'])).toBe('Add')
  expect(replaces('func Add(a, b int) int {', ['Add'], false)).toBeNull()
})

test.each([
  'static int same(int is, int expected) {',
  'int same(int is, int expected)',
  'unsigned long *same(int is,',
  'static void same(int is, int expected) throws Exception {',
  '#define same(a, b) assert((a) == (b))',
  'def same(a, b):',
  'pub fn same(a: i32, b: i32) {',
  'func same(a, b int) {',
  'export function same(a, b) {',
  'const same = (a, b) => {',
  'same(a, b) {',
  'sub same {',
])('a function or a macro is defined by %j', (line) => {
  expect(defines([line], 'same')).toBe(true)
})

test.each([
  ['assert(a > 0);', 'assert'],
  ['if (a > 0) {', 'if'],
  ['} else if (a > 0) {', 'if'],
  ['while (a > 0) {', 'while'],
  ['if exists(path) {', 'is'],
  ['int exists(int is) {', 'is'],
  ['same(1, 2)', 'same'],
  ['return same(1, 2)', 'same'],
  ['if (same(1, 2)) {', 'same'],
  ['if not same(1, 2):', 'same'],
  ['int failed = same(1, 2);', 'same'],
  ['await same(a,', 'same'],
  ['int a;', ''],
])('%j does not define %j', (line, name) => {
  expect(defines([line], name)).toBe(false)
})

test.each([
  ['assert.equal(add(1, 2), 3)', ['3']],
  ['expect(calc.add(1, 2)).toBe(3)', ['3']],
  ["expect(name(1)).to.equal('a b')", ['a b']],
  ['self.assertEqual(add(1, 2), 3)', ['3']],
  ['assert(add(1, 2) == 3);', ['3']],
  ['assert add("a", 2) == "a2"', ['a2']],
])('what a test expects is read from %j', (line, values) => {
  expect([...valuesIn([line])]).toEqual(values)
})

test('a long test and a long file are compared at once', () => {
  const body = Array.from({ length: 25_000 }, (_, at) => `if (add(${at}, 1) !== ${at}) return`)
  expect(provesLess(body, [...body, 'done()'])).toBe(false)
  const text = `${body.map((_, at) => `const a${at} = 1`).join('\n')}\ntest('adds', () => {\n${body.join('\n')}\n})\n`
  expect(rebound(text, `${text}\n`, 'adds')).toBeNull()
})

test.each(['"\\', 'a.b.', "'"])('a line of many %j is searched at once', (piece) => {
  expect(valuesIn([piece.repeat(60_000)]).size).toBeLessThan(3)
})
