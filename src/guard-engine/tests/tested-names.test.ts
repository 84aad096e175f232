import { expect, test } from 'vitest'
import { testedNames, testsItsOwn } from './tested-names.ts'

const facts = (path: string, code: string) => ({
  hash: code,
  cases: 1,
  skipped: 0,
  assertions: 1,
  loads: true as const,
  ...testedNames(path, code, (place) =>
    place.endsWith('copy.js') ? 'export function add(a, b) {\n  return a + b\n}\n' : null,
  ),
})
const script = (head: string, call = 'add(1, 2)') =>
  facts('test/a.test.js', `${head}\n\ntest('a', () => {\n  assert.equal(${call}, 3)\n})\n`)
const python = (head: string, call = 'add(1, 2)') =>
  facts('tests/test_a.py', `${head}\n\n\ndef test_a():\n    assert ${call} == 3\n`)

test.each([
  "import { add as real } from '../src/a.js'\n\nconst add = (a, b) => a + b",
  "import * as real from '../src/a.js'\n\nfunction add(a, b) {\n  real.add(a, b)\n  return a + b\n}",
  "import { add as real } from '../src/a.js'\n\nconst add = mock.fn((a, b) => a + b)",
  "import { add as real } from '../src/a.js'\n\nconst add = vi.fn(real, () => 3)",
  "import '../src/a.js'\nimport { add } from './copy.js'",
])('%s: a copy is tested', (head) => {
  const before = script("import { add } from '../src/a.js'")
  expect(testsItsOwn(before, script(head))).toEqual(['tests add of its own, not that of the project'])
})

test.each([
  "import { add as real } from '../src/a.js'\n\nconst add = (a, b) => real(a, b)",
  "import { sums } from '../src/a.js'\n\nfunction add(a, b) {\n  const all = sums([a, b])\n  return all[0]\n}",
  "import { add } from '../src/moved/a.js'\n\nconst log = vi.fn((a) => a)",
  "import { add } from './helpers.js'",
  "import { add } from 'app'",
  "const { add } = await import('../src/a.js')",
])('%s: the function of the project is tested', (head) => {
  expect(testsItsOwn(script("import { add } from '../src/a.js'"), script(head))).toEqual([])
})

test('what the project offers is no longer used', () => {
  const before = script("import { add } from '../src/a.js'")
  expect(testsItsOwn(before, script("import { add } from '../src/a.js'", 'sum(1, 2)'))).toHaveLength(1)
})

test.each([
  'import a as real\n\n\ndef add(a, b):\n    return a + b',
  'import a as real\n\nadd = Mock(return_value=3)',
])('%s: a copy is tested in Python', (head) => {
  expect(testsItsOwn(python('from a import add'), python(head))).toHaveLength(1)
  expect(testsItsOwn(python('import a', 'a.add(1, 2)'), python(head))).toHaveLength(1)
})

test('a wrapper in Python that calls the project is not a copy', () => {
  const head = 'import a as real\n\n\ndef add(a, b):\n    return real.add(a, b)'
  expect(testsItsOwn(python('from a import add'), python(head))).toEqual([])
})

test('in Go a closure hides the function', () => {
  const go = (line: string) =>
    facts('a_test.go', `func TestA(t *testing.T) {\n\t${line}if Add(1, 2) != 3 {\n`)
  expect(testsItsOwn(go(''), go('Add := func(a, b int) int { return a + b }\n'))).toHaveLength(1)
})
