import { expect, test } from 'vitest'
import { bodyOf, linesOf, nameOf, provesLess } from './test-body.ts'

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
