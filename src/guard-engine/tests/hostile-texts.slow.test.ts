import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { declaredAs } from '../../../test/support/guard-story.ts'
import { failedTests } from '../../core/test-output/count-tests.ts'
import { findRuns } from '../evidence/find-runs.ts'
import { provesNothing } from '../evidence/proves-nothing.ts'
import { commandDefinition } from './command-definition.ts'
import { inspectTests } from './inspect-tests.ts'
import { makeTarget } from './make-target.ts'
import { decidingConftest } from './pytest-config.ts'
import { callsOfRemoved } from './removed-tests.ts'
import { asksAround, setAround } from './surroundings.ts'
import { tamings } from './tamings.ts'
import { testLanguage } from './test-files.ts'
import { testedNames } from './tested-names.ts'
import { looseIn, untestedIn } from './untested-in.ts'
import { weakenings } from './weakenings.ts'

const length = 200_000
const filled = (piece: string): string => piece.repeat(Math.ceil(length / piece.length))

/** A pattern that searches the rest of the text again from every place would take minutes, longer than a hook may. */
test.each([
  '\n',
  ' ',
  'a/',
  'it(',
  'it.test.',
  'test(',
  'assert(',
  'assert[',
  'expect.',
  'of $',
  '#[cfg_attr(a',
  '@Test ',
  'if cfg!(feature',
  'import ',
  'def test(',
  `    def a():\n${'            b\n'.repeat(20)}`,
  'import { a as b,',
  'const a = (b) => ',
  '{ a: vi.fn(',
  'expect(a(b(',
  'try {\n assert.ok(',
  'a.then((b) => expect(b)).',
])('a text of %j is searched at once', (piece) => {
  const text = filled(piece)
  for (const path of [
    'a.test.ts',
    'test_a.py',
    'a_test.go',
    'a.rs',
    'ATest.java',
    'ATest.php',
    'a_test.cc',
  ]) {
    const language = testLanguage(path)
    expect(language?.skipped.test(text)).toBeTypeOf('boolean')
    if (language !== null) callsOfRemoved(text, null, language)
    untestedIn(path, text)
    testedNames(path, text, () => null)
  }
  looseIn(text)
  asksAround('src/a.ts', [`readFile(HOME) ${text}`])
  tamings('src/a.ts', [text], [text])
  failedTests(text)
  const when = { home: '/home/a', root: '/a', sinceMs: 0, beganMs: 0, isInTree: () => true }
  const asked = new Map([['src/a.ts', { names: ['CI'], paths: [], isOpen: false }]])
  setAround(`npm test${text}`, ['npm test'], asked, when)
})

test.each([
  (at: number) => `a.b${at} = lambda: 3`,
  (at: number) => `a${at} = 1`,
  (at: number) => `def test_a${at}():`,
  (at: number) => `class A${at}:\n    def test_a(self): pass`,
  (at: number) => `const a${at} = () => assert.ok(1)`,
  (at: number) => `a.b${at} = () => 3`,
  (at: number) => `for (const x of l${at}) { it('a') }`,
  (at: number) => `test('a', { skip: a${at} }, b)`,
  (at: number) => `import a${at}`,
])('a text with thousands of names is searched at once', (lineOf) => {
  const text = Array.from({ length: 30_000 }, (_, at) => lineOf(at)).join('\n')
  for (const path of ['a.test.ts', 'test_a.py']) {
    const language = testLanguage(path)
    expect(language?.skipped.test(text)).toBeTypeOf('boolean')
    untestedIn(path, text)
    testedNames(path, text, () => null)
  }
})

test('a packed file of tests is read at once', async () => {
  await using fixture = await createFixture({ 'a.test.js': `test('a');${filled('assert.equal(a, 1);')}` })
  const { files } = await inspectTests(fixture.path, [])
  expect(files['a.test.js']?.cases).toBe(1)
})

test.each(['def a(\n', 'autouse = True\n', 'a.b = c\n'])('a conftest.py of %j is read at once', (piece) => {
  expect(decidingConftest(filled(piece))).toBeNull()
})

test.each([' -Ia.c', ' a.c', ' $(CFLAGS)', '/a'])(
  'a rule of make with %j many times is compared at once',
  (piece) => {
    const [was, is] = ['test: t', `test: t\na.o: a.c\n\tcc -c a.c${filled(piece)} !`].map((text) => ({
      files: {},
      definitions: { 'make test': text },
    }))
    expect(weakenings(was ?? null, is ?? null)).toHaveLength(1)
  },
)

test.each([
  `test: t\n${filled('t: a\n')}`,
  `test: ${filled('a.o ')}\n${filled('%.o: b\n')}`,
  `A = ${filled('$(B)')}\nB = ${filled('$(C)')}\nC =\ntest: ${filled('$(A)')}\n`,
  `test: ${filled('$(x:.c=.o) ')}\n${filled('a.o: b\n')}`,
])('a Makefile of %.20j is read at once', (makefile) => {
  expect(makeTarget('make test', (path) => (path === 'Makefile' ? makefile : null))).toContain('test:')
})

test.each(['>&1', '2>&1', '2>/dev/null', "'a'", '[ "$a" = '])(
  'a script with %j many times is read at once',
  async (piece) => {
    await using place = await createFixture({
      'test.sh': `set -e\n[ "$(a)" = 1 ]\necho "${filled(piece)}\\`,
    })
    expect(commandDefinition(place.path, 'sh test.sh', 'test')).toContain('test.sh')
  },
)

test.each([' ', 'print() ', '=', ';'])('a program of %j in a declared command is read at once', (piece) => {
  expect(provesNothing(`python3 -c "${filled(piece)}x"`)).toBeNull()
})

test('a command that names the project many times is read at once', () => {
  const place = { root: '/a/b', directory: '/a/b', language: 'bash' as const, read: () => null, tests: [] }
  const { runs } = findRuns(`npm test ${filled('/a/b')}`, [declaredAs('npm test')], {
    ...place,
    real: (each) => each,
  })
  expect(runs).toHaveLength(1)
})
