import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { DeclaredCommand, TestFileFacts } from '../contract.ts'
import { inspectTests } from './inspect-tests.ts'
import { isTestFile } from './test-files.ts'
import { weakenings } from './weakenings.ts'

const command = (text: string, kind: DeclaredCommand['kind'] = 'test') => ({ command: text, kind })

test('cases, skips and assertions are counted for each language, without comments', async () => {
  await using project = await createFixture({
    'src/a.test.ts': `test('a', () => { expect(1).toBe(1) })\n// test('b', () => {})\nit.skip('c', () => {})\n/* it('d') */ it.each([1])('e', () => { assert.ok(1) })`,
    'tests/test_b.py': `def test_one():\n    assert 1\n\n@pytest.mark.skip\ndef test_two():\n    self.assertTrue(1)\n# def test_three():\n`,
    'pkg/c_test.go': `func TestA(t *testing.T) { t.Fatal("x") }\nfunc TestB(t *testing.T) { t.Skip() }\nfunc helper() {}`,
    'src/lib.rs': `#[test]\nfn a() { assert_eq!(1, 1); }\n#[tokio::test]\n#[ignore]\nasync fn b() {}`,
    'src/main.rs': 'fn main() {}',
    'src/a.ts': `export const it = () => {}`,
    'node_modules/x/x.test.js': `test('no', () => {})`,
  })
  const { files } = await inspectTests(project.path, [])
  expect(Object.keys(files).toSorted()).toEqual([
    'pkg/c_test.go',
    'src/a.test.ts',
    'src/lib.rs',
    'tests/test_b.py',
  ])
  expect(files['src/a.test.ts']).toMatchObject({ cases: 2, skipped: 1, assertions: 2 })
  expect(files['tests/test_b.py']).toMatchObject({ cases: 2, skipped: 1, assertions: 2 })
  expect(files['pkg/c_test.go']).toMatchObject({ cases: 2, skipped: 1, assertions: 1 })
  expect(files['src/lib.rs']).toMatchObject({ cases: 2, skipped: 1, assertions: 1 })
})

test.each([
  [
    'a test was commented out',
    `test('a', () => { expect(1).toBe(1) })\n// test('b', () => { expect(2).toBe(2) })\n`,
  ],
  [
    'one was skipped',
    `test('a', () => { expect(1).toBe(1) })\ntest.skip('b', () => { expect(2).toBe(2) })\n`,
  ],
  [
    'the others were deselected',
    `test.only('a', () => { expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`,
  ],
  [
    'one returns before its assertion',
    `test('a', () => { return; expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`,
  ],
  ['one must fail', `test.fails('a', () => { expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`],
  [
    'the tested module is replaced',
    `jest.mock('./a.js', () => ({}))\ntest('a', () => { expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`,
  ],
  ['an assertion was removed', `test('a', () => {})\ntest('b', () => { expect(2).toBe(2) })\n`],
])('%s: two snapshots show it', async (_, after) => {
  await using project = await createFixture({
    'a.test.ts': `test('a', () => { expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`,
  })
  const before = await inspectTests(project.path, [])
  await project.writeFile('a.test.ts', after)
  expect(weakenings(before, await inspectTests(project.path, []))).not.toEqual([])
})

test('a test that must fail is weaker where it was there before, and a new one is not', async () => {
  const one = '#[test]\nfn a() { assert_eq!(1, 1); }\n'
  await using project = await createFixture({ 'src/lib.rs': one })
  const before = await inspectTests(project.path, [])
  const after = async (text: string) => {
    await project.writeFile('src/lib.rs', text)
    return weakenings(before, await inspectTests(project.path, []))
  }
  expect(await after(`#[should_panic]\n${one}`)).toEqual([
    '"src/lib.rs" has 1 test that must fail, before it had 0',
  ])
  expect(await after(one.replace('{ ', '{ return; '))).not.toEqual([])
  expect(await after(`${one}#[test]\n#[should_panic]\nfn b() { assert!(f()); }\n`)).toEqual([])
})

test('mocks of other modules, callbacks that do nothing and early ends in a condition weaken nothing', async () => {
  const one = `test('a', () => { expect(1).toBe(1) })\n`
  await using project = await createFixture({ 'a.test.ts': one })
  const before = await inspectTests(project.path, [])
  const more = `jest.mock('./b.js')\nconst no = () => { return; }\nif (no) { return; }\n`
  await project.writeFile('a.test.ts', more + one)
  expect(weakenings(before, await inspectTests(project.path, []))).toEqual([])
})

test('commands are defined by scripts and what they call, targets, files and configuration', async () => {
  await using project = await createFixture({
    'package.json': JSON.stringify({
      scripts: { pretest: 'tsc', test: 'npm run unit', unit: 'vitest run', lint: 'eslint .' },
    }),
    'vitest.config.ts': 'export default {}',
    Makefile: 'all:\n\tcc x\n\ntest: all\n\tpytest -q\n\t./x\n\nclean:\n\trm x\n',
    'pyproject.toml':
      '[project]\nname = "x"\n\n[tool.pytest.ini_options]\naddopts = "-q -m fast"\n\n[tool.ruff]\nx = 1\n',
    'check.sh': 'exit 0',
  })
  const commands = [
    'npm test',
    'npm run lint',
    'make test',
    './check.sh',
    'pytest',
    'cargo test',
    'npm run none',
  ]
  const { definitions } = await inspectTests(
    project.path,
    commands.map((each) => command(each)),
  )
  expect(definitions['npm test']).toMatch(
    /^pretest: tsc\nnpm run unit\nunit: vitest run\nvitest\.config\.ts \(/,
  )
  expect(definitions['npm run lint']).toBe('eslint .')
  expect(definitions['make test']).toMatch(
    /^test: all\n\tpytest -q\n\t\.\/x\nall:\n\tcc x\npyproject\.toml \(/,
  )
  expect(definitions['./check.sh']).toMatch(/^check\.sh \([0-9a-f]{12}\)$/)
  expect(definitions).toMatchObject({ 'cargo test': '', 'npm run none': '' })

  await project.writeFile(
    'pyproject.toml',
    '[project]\nname = "y"\n[tool.pytest.ini_options]\naddopts = "-m fast -q"\n',
  )
  const same = await inspectTests(project.path, [command('pytest')])
  expect(same.definitions.pytest).toBe(definitions.pytest)
  await project.writeFile('pyproject.toml', '[tool.pytest.ini_options]\naddopts = "--collect-only"\n')
  expect((await inspectTests(project.path, [command('pytest')])).definitions.pytest).not.toBe(
    same.definitions.pytest,
  )
})

test('a configuration that gets its first setting which counts has changed and is not new', async () => {
  const section = '[tool.pytest.ini_options]\nmarkers = ["fast"]\n'
  await using project = await createFixture({ 'pyproject.toml': section })
  const before = await inspectTests(project.path, [command('pytest')])
  await project.writeFile('pyproject.toml', `${section}addopts = "-m fast"\n`)
  const after = await inspectTests(project.path, [command('pytest')])
  for (const change of [weakenings(before, after), weakenings(after, before)])
    expect(change).toEqual([
      expect.stringContaining('changed: "pyproject.toml" has changed, and such a file'),
    ])
})

test('a missing root, a link out of the project and a huge file are handled', async () => {
  expect(await inspectTests('/does/not/exist', [command('npm test')])).toEqual({
    files: {},
    definitions: { 'npm test': '' },
  })
  await using project = await createFixture({
    'big.test.ts': 'x'.repeat(600_000),
    'out.test.ts': ({ symlink }) => symlink('/etc/passwd'),
  })
  const { files } = await inspectTests(project.path, [])
  expect(files).toEqual({ 'big.test.ts': { hash: '600000 bytes', cases: 0, skipped: 0, assertions: 0 } })
})

test('a test file is recognized by its name', () => {
  const names = [
    'src/a.test.ts',
    'tests/test_x.py',
    'a_test.go',
    'tests/x.rs',
    'FooTest.java',
    '__tests__/a.js',
  ]
  expect(names.filter((name) => !isTestFile(name))).toEqual([])
  expect(['src/a.ts', 'latest.py', 'src/lib.rs', 'contest.go', 'testing.md'].filter(isTestFile)).toEqual([])
})

const facts = (change: Partial<TestFileFacts> = {}): TestFileFacts => ({
  hash: 'h',
  cases: 3,
  skipped: 0,
  assertions: 5,
  ...change,
})
const look = (files: Record<string, TestFileFacts>, definitions: Record<string, string> = {}) => ({
  files,
  definitions,
})

test('equal or more tests are not a weakening', () => {
  const before = look({ a: facts() }, { 'npm test': 'jest' })
  expect(weakenings(before, before)).toEqual([])
  const after = look(
    { a: facts({ hash: 'i', cases: 4, assertions: 9 }), b: facts({ hash: 'j' }) },
    { 'npm test': 'jest' },
  )
  expect(weakenings(before, after)).toEqual([])
})

test('without two snapshots nothing is reported', () => {
  expect(weakenings(null, look({}))).toEqual([])
  expect(weakenings(look({ a: facts() }), null)).toEqual([])
})

test('a moved file is not a deleted one, and a deleted file without tests is not reported', () => {
  expect(weakenings(look({ a: facts() }), look({ b: facts() }))).toEqual([])
  expect(weakenings(look({ a: facts({ cases: 0 }) }), look({}))).toEqual([])
})

test.each([
  ['lib-2/test_a.py', 3, 0],
  ['lib-2/test_a.py', 2, 1],
  ['lib-2/check_a.py', 3, 1],
])('a file that moved to %s, where %i tests ran: %i reported', (path, executed, count) => {
  const run = { command: 'pytest', exitCode: 0, executed, treeHash: '', startedAt: '', durationMs: 0 }
  const evidence = { byCommand: { pytest: { ...run, kind: 'test', by: 'verifier' } } } as const
  const [before, after] = [look({ 'lib-1/test_a.py': facts() }), look({ [path]: facts() })]
  expect(weakenings(before, after, evidence)).toHaveLength(count)
})

test('an earlier copy does not hide a deletion', () => {
  expect(weakenings(look({ a: facts(), b: facts() }), look({ b: facts() }))).toEqual([
    '"a" with 3 tests was deleted',
  ])
})

test('fewer tests, fewer assertions, new skips and changed definitions are each reported', () => {
  const before = look({ a: facts() }, { 'npm test': 'jest', 'make test': 'test:\n\tpytest' })
  const after = look({ a: facts({ hash: 'i', cases: 1, skipped: 2, assertions: 1 }) }, { 'npm test': 'true' })
  expect(weakenings(before, after)).toEqual([
    '"a" has 1 test, before it had 3',
    '"a" has 2 skipped or narrowed tests, before it had 0',
    '"a" has 1 assertion, before it had 5',
    'the definition of "npm test" changed; before: "jest"; now: "true"',
    'the definition of "make test" changed; before: "test: pytest"; it is no longer defined',
  ])
})

test('of a long definition the part that changed is shown', () => {
  const rules = `test: build/a\n\t./build/a\n${'x'.repeat(200)}`
  const [before, after] = ['-O0', '-DNDEBUG'].map((flag) =>
    look({}, { 'make test': `${rules}\nMakefile: CFLAGS = ${flag}` }),
  )
  expect(weakenings(before ?? null, after ?? null)).toEqual([
    'the definition of "make test" changed; before: "Makefile: CFLAGS = -O0"; now: "Makefile: CFLAGS = -DNDEBUG"',
  ])
})

test.each([
  ['CFLAGS = -Wall -Iinclude', 'CFLAGS = -Wall -Werror -O2 -Iinclude', 0],
  ['CFLAGS = -Wall', 'CFLAGS = -Wall\nMakefile: CFLAGS += -Werror -O2', 0],
  ['CXXFLAGS := -O0 -Wall', 'CXXFLAGS := -O2 -g -Wall -pedantic', 0],
  ['CFLAGS = -Wall -Werror', 'CFLAGS = -Wall', 1],
  ['CFLAGS = -Wall', 'CFLAGS = -Wall -Wno-error', 1],
  ['CFLAGS = -Wall', 'CFLAGS = -Wall -Wl,--wrap=main', 1],
  ['CFLAGS = -Wall', 'CFLAGS = -Wall -O2 -DNDEBUG', 1],
  ['CFLAGS = -Wall', 'CFLAGS = -Wall\nMakefile: CFLAGS = -O2', 1],
  ['CC = gcc', 'CC = gcc -O2', 1],
])('flags of a compiler from %j to %j: %i reported', (was, is, count) => {
  const [before, after] = [was, is].map((line) =>
    look({}, { 'make test': `test: a\n\t./a\nMakefile: ${line}` }),
  )
  expect(weakenings(before ?? null, after ?? null)).toHaveLength(count)
})

test.each([
  ['t: t.c add.c\n\tcc -o t t.c add.c', 't: t.c add.c sum.c\n\tcc -Wall -o t t.c add.c sum.c', 0],
  ['Makefile: OBJS = add.o', 'Makefile: OBJS = add.o sum.o', 0],
  ['t: t.c\n\tcc -o t t.c', 't: t.c u.c\n\tcc -DNDEBUG -o t t.c u.c', 1],
  ['t: t.c\n\tcc -o t t.c', 't: u.c\n\tcc -o t u.c', 1],
  ['t: t.c\n\tcc -o t t.c', 't: t.c\n\t-cc -o t t.c u.c', 1],
])('what a program is made from, from %j to %j: %i reported', (was, is, count) => {
  const [before, after] = [was, is].map((rule) => look({}, { 'make test': `test: t\n\t./t\n${rule}` }))
  expect(weakenings(before ?? null, after ?? null)).toHaveLength(count)
})

test.each([
  ["sys.path.insert(0, 'build')", 1],
  ["sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'build'))", 1],
  ["sys.path.insert(0, '.')", 0],
  ["sys.path.insert(0, 'src')", 0],
  ["sys.path.insert(0, 'tools')", 0],
])('%s puts %i copies in front of the project', async (line, skipped) => {
  await using project = await createFixture({
    'total.py': 'def total(a, b):\n    return a - b\n',
    'build/total.py': 'def total(a, b):\n    return a + b\n',
    'tools/other.py': '',
    'tests/test_total.py': `import sys\n\n${line}\n\nfrom total import total\n\n\ndef test_it():\n    assert total(1, 2) == 3\n`,
  })
  const { files } = await inspectTests(project.path, [])
  expect(files['tests/test_total.py']).toMatchObject({ skipped })
})
