import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import type { DeclaredCommand, TestFileFacts } from '../contract.ts'
import { lookAtTests, weakenings } from './look-at-tests.ts'
import { looksLikeTest } from './test-files.ts'

const command = (text: string, kind: DeclaredCommand['kind'] = 'test') => ({ command: text, kind })

test('cases, skips and assertions are counted in the words of each language, and comments are not', async () => {
  await using project = await createFixture({
    'src/a.test.ts': `test('a', () => { expect(1).toBe(1) })\n// test('b', () => {})\nit.skip('c', () => {})\n/* it('d') */ it.each([1])('e', () => { assert.ok(1) })`,
    'tests/test_b.py': `def test_one():\n    assert 1\n\n@pytest.mark.skip\ndef test_two():\n    self.assertTrue(1)\n# def test_three():\n`,
    'pkg/c_test.go': `func TestA(t *testing.T) { t.Fatal("x") }\nfunc TestB(t *testing.T) { t.Skip() }\nfunc helper() {}`,
    'src/lib.rs': `#[test]\nfn a() { assert_eq!(1, 1); }\n#[tokio::test]\n#[ignore]\nasync fn b() {}`,
    'src/main.rs': 'fn main() {}',
    'src/a.ts': `export const it = () => {}`,
    'node_modules/x/x.test.js': `test('no', () => {})`,
  })
  const { files } = await lookAtTests(project.path, [])
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
    'the others were left out',
    `test.only('a', () => { expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`,
  ],
  ['an assertion went', `test('a', () => {})\ntest('b', () => { expect(2).toBe(2) })\n`],
])('%s: it is seen between two looks', async (_, after) => {
  await using project = await createFixture({
    'a.test.ts': `test('a', () => { expect(1).toBe(1) })\ntest('b', () => { expect(2).toBe(2) })\n`,
  })
  const before = await lookAtTests(project.path, [])
  await project.writeFile('a.test.ts', after)
  expect(weakenings(before, await lookAtTests(project.path, []))).not.toEqual([])
})

test('commands are defined by scripts with what they call, targets, files and configuration', async () => {
  await using project = await createFixture({
    'package.json': JSON.stringify({
      scripts: { pretest: 'tsc', test: 'npm run unit', unit: 'vitest run', lint: 'eslint .' },
    }),
    'vitest.config.ts': 'export default {}',
    Makefile: 'all:\n\tcc x\n\ntest: all\n\tpytest -q\n\t./x\n\nclean:\n\trm x\n',
    'pyproject.toml':
      '[project]\nname = "x"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n\n[tool.ruff]\nx = 1\n',
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
  const { definitions } = await lookAtTests(
    project.path,
    commands.map((each) => command(each)),
  )
  expect(definitions['npm test']).toMatch(
    /^pretest: tsc\nnpm run unit\nunit: vitest run\nvitest\.config\.ts \(/,
  )
  expect(definitions['npm run lint']).toBe('eslint .')
  expect(definitions['make test']).toMatch(/^test: all\n\tpytest -q\n\t\.\/x\npyproject\.toml \(/)
  expect(definitions['./check.sh']).toMatch(/^check\.sh \([0-9a-f]{12}\)$/)
  expect(definitions).toMatchObject({ 'cargo test': '', 'npm run none': '' })

  await project.writeFile(
    'pyproject.toml',
    '[project]\nname = "y"\n[tool.pytest.ini_options]\naddopts = "-q"\n',
  )
  const same = await lookAtTests(project.path, [command('pytest')])
  expect(same.definitions.pytest).toBe(definitions.pytest)
  await project.writeFile('pyproject.toml', '[tool.pytest.ini_options]\naddopts = "--collect-only"\n')
  expect((await lookAtTests(project.path, [command('pytest')])).definitions.pytest).not.toBe(
    same.definitions.pytest,
  )
})

test('a missing root, a link out of the project and a huge file are no trouble', async () => {
  expect(await lookAtTests('/does/not/exist', [command('npm test')])).toEqual({
    files: {},
    definitions: { 'npm test': '' },
  })
  await using project = await createFixture({
    'big.test.ts': 'x'.repeat(600_000),
    'out.test.ts': ({ symlink }) => symlink('/etc/passwd'),
  })
  const { files } = await lookAtTests(project.path, [])
  expect(files).toEqual({ 'big.test.ts': { hash: '600000 bytes', cases: 0, skipped: 0, assertions: 0 } })
})

test('a name says whether a file holds tests', () => {
  const names = [
    'src/a.test.ts',
    'tests/test_x.py',
    'a_test.go',
    'tests/x.rs',
    'FooTest.java',
    '__tests__/a.js',
  ]
  expect(names.filter((name) => !looksLikeTest(name))).toEqual([])
  expect(['src/a.ts', 'latest.py', 'src/lib.rs', 'contest.go', 'testing.md'].filter(looksLikeTest)).toEqual(
    [],
  )
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

test('what grew or stayed is no weakening', () => {
  const before = look({ a: facts() }, { 'npm test': 'jest' })
  expect(weakenings(before, before)).toEqual([])
  const after = look(
    { a: facts({ hash: 'i', cases: 4, assertions: 9 }), b: facts({ hash: 'j' }) },
    { 'npm test': 'jest' },
  )
  expect(weakenings(before, after)).toEqual([])
})

test('without two looks nothing is said', () => {
  expect(weakenings(null, look({}))).toEqual([])
  expect(weakenings(look({ a: facts() }), null)).toEqual([])
})

test('a file that was moved as it is was not deleted, one without tests is not missed', () => {
  expect(weakenings(look({ a: facts() }), look({ b: facts() }))).toEqual([])
  expect(weakenings(look({ a: facts({ cases: 0 }) }), look({}))).toEqual([])
})

test('a copy that was there before hides no deletion', () => {
  expect(weakenings(look({ a: facts(), b: facts() }), look({ b: facts() }))).toEqual([
    '"a" with 3 tests was deleted',
  ])
})

test('fewer tests, fewer assertions, new skips and another definition are each named', () => {
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
