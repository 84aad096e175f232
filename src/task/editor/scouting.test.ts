import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { scoutA, scoutB } from '../../../test/support/task-lab.ts'
import { findConflicts } from '../analyse.ts'
import { requeryScouts } from '../run-task.ts'
import { scoutAReportSchema, scoutBReportSchema } from '../scouts/report-schemas.ts'
import { sampleConventions } from './sample-conventions.ts'
import { firstStrategy, includesStrategy, smallestSlice } from './strategy.ts'
import { missingTests } from './test-inventory.ts'

const a = (change: object) => scoutAReportSchema.parse({ ...scoutA, ...change })
const b = (change: object) => scoutBReportSchema.parse({ ...scoutB, ...change })
const vitest = {
  detected_framework: 'vitest',
  commands: { all: 'vitest run' },
  coverage_command: null,
  notes: '',
}
const npm = { detected_system: 'npm', commands: { build: 'npm run build' }, prerequisites: [], notes: '' }

test('Scout B decides about tests and builds, Scout A about everything else', () => {
  const found = findConflicts(
    a({ verification_tips: ['Run jest before you stop', 'then `yarn build`'] }),
    b({ test: { ...vitest, notes: 'src/add.js is unused by any entry point.' }, build: npm }),
  )
  expect(found).toEqual([
    {
      question: 'Which framework runs the tests?',
      decision: 'vitest',
      rationale: expect.stringContaining('Scout A says jest'),
    },
    {
      question: 'Which system builds the project?',
      decision: 'npm',
      rationale: expect.stringContaining('yarn'),
    },
    {
      question: 'Does src/add.js matter for the task?',
      decision: 'it is primary',
      rationale: expect.stringContaining('unused'),
    },
  ])
})

test('Scouts that agree or name nothing have no conflict', () => {
  expect(findConflicts(a({}), b({ test: vitest, build: npm }))).toEqual([])
  expect(findConflicts(a({ verification_tips: ['run vitest'] }), b({ test: vitest }))).toEqual([])
  expect(findConflicts(a({ verification_tips: ['run jest'] }), b({}))).toEqual([])
})

test.each([
  ["Error: Cannot find module './x'", ['scout_a']],
  ['ReferenceError: foo is not defined, undefined variable', ['scout_a']],
  ['ModuleNotFoundError: no x', ['scout_a']],
  ['compilation failed', ['scout_b']],
  ['step "test" timed out', ['scout_b']],
  ['the build of the module failed', ['scout_a', 'scout_b']],
  ['AssertionError: expected 3 but got -1', []],
])('%s asks %j again', (failure, scouts) => {
  expect(requeryScouts([failure])).toEqual(scouts)
})

test('the smallest slice is the first in order, then the least complex, then the one with the fewest files', () => {
  const slice = (id: string, complexity: string, files: string[], order: number | null) => ({
    id,
    complexity,
    files,
    order,
    description: id,
  })
  const of = (...safe_slices: object[]) =>
    smallestSlice(a({ change_boundaries: { safe_slices, ordering_constraints: [] } }))?.id
  expect(of(slice('big', 'high', ['x'], null), slice('small', 'low', ['x', 'y'], null))).toBe('small')
  expect(of(slice('two', 'low', ['x', 'y'], null), slice('one', 'low', ['x'], null))).toBe('one')
  expect(of(slice('later', 'low', ['x'], 2), slice('first', 'high', ['x', 'y'], 1))).toBe('first')
  expect(of()).toBeUndefined()
})

test('the first strategy of a retry names the strategies already tried', () => {
  const task = {
    objective: 'Do it',
    mustPreserve: [],
    nonGoals: [],
    boundaries: [],
    successCriteria: [],
    warnings: [],
  }
  const stuck = {
    description: '',
    status: '',
    hypotheses: [],
    strategies: ['the first way'],
    runIds: [],
    text: '',
  }
  expect(firstStrategy(task, null, stuck)).toContain('the first way')
  expect(firstStrategy(task, a({}), null)).toContain('mend the sign (src/add.js)')
})

test('strategies are compared without case, spaces and punctuation', () => {
  expect(includesStrategy('use  a PLUS, sign!', ['Use a plus sign.'])).toBe(true)
  expect(includesStrategy('use a minus sign', ['Use a plus sign.'])).toBe(false)
})

test('conventions are what most of the sampled files do', async () => {
  await using project = await createFixture({
    'src/read-file.ts':
      "import { a } from './a'\nexport function readFile(a: string) {\n  const someName = 'x'\n  return someName\n}\n",
    'src/write-file.ts':
      "import { a } from './a'\nexport function writeFile(a: string) {\n  const otherName = 'y'\n  return otherName\n}\n",
    'src/copy-tree.ts': "export const copyTree = 'z'\n",
    'src/read-file.test.ts': "import { test } from 'vitest'\ntest('a', () => {})\n",
    'package.json': '{ "devDependencies": { "vitest": "1" } }',
    'big.ts': 'x'.repeat(100_000),
  })
  const files = [
    'src/read-file.ts',
    'src/write-file.ts',
    'src/copy-tree.ts',
    'src/read-file.test.ts',
    'package.json',
    'big.ts',
    'gone.ts',
  ]
  const found = sampleConventions(project.path, files, ['src/read-file.ts'])
  expect(found).toEqual({
    style: [
      'Indentation: 2 spaces.',
      'Strings: single quotes.',
      'Statements end without semicolons.',
      'Names of functions and variables: camelCase.',
      'File names: kebab-case.',
    ],
    tests: { naming: '*.test.ts beside the source', framework: 'vitest' },
    sampled: ['src/read-file.ts', 'src/copy-tree.ts', 'src/read-file.test.ts', 'src/write-file.ts'],
  })
  expect(sampleConventions(project.path, files, ['src/read-file.ts'])).toEqual(found)
})

test.each([
  [['src/Button.tsx', 'src/MenuItem.tsx', 'src/Panel.tsx'], 'PascalCase'],
  [['src/readFile.ts', 'src/writeFile.ts', 'src/copyTree.ts'], 'camelCase'],
  [['src/read_file.py', 'src/write_file.py', 'src/copy_tree.py'], 'snake_case'],
])('the names of %j are %s', async (paths, style) => {
  await using project = await createFixture(Object.fromEntries(paths.map((path) => [path, 'x = 1\n'])))
  expect(sampleConventions(project.path, paths, []).style).toContain(`File names: ${style}.`)
})

test.each([
  [{ 'go.mod': 'module x\n', 'a_test.go': 'package x\n' }, 'go test', '*_test.go beside the source'],
  [{ 'pyproject.toml': '', 'tests/test_a.py': '' }, 'pytest', 'test_*.py in tests/'],
  [{ 'package.json': '{"scripts":{"test":"node --test"}}', 'a.js': '' }, 'node:test', null],
  [{ 'Cargo.toml': '', 'src/lib.rs': '' }, 'cargo test', null],
  [{ 'main.c': '' }, null, null],
])('the framework of %j is %s', async (files, framework, naming) => {
  await using project = await createFixture(files)
  expect(sampleConventions(project.path, Object.keys(files), []).tests).toEqual({ framework, naming })
})

test('source files changed without a test are listed; documents, configuration and tests are not', () => {
  const facts = (hash: string, cases = 1) => ({ hash, cases, skipped: 0, assertions: 1 })
  const none = { files: {}, definitions: {} }
  expect(missingTests(['src/a.ts', 'README.md'], none, none)).toEqual(['src/a.ts'])
  expect(missingTests(['README.md', 'x.config.ts', 'types.d.ts'], none, none)).toEqual([])
  const after = { files: { 'src/a.test.ts': facts('1') }, definitions: {} }
  expect(missingTests(['src/a.ts', 'src/a.test.ts'], none, after)).toEqual([])
  // An unchanged or deleted test does not count.
  expect(missingTests(['src/a.ts'], after, after)).toEqual(['src/a.ts'])
  expect(missingTests(['src/a.ts', 'src/a.test.ts'], after, none)).toEqual(['src/a.ts'])
  const rust = { files: { 'src/lib.rs': facts('2') }, definitions: {} }
  expect(missingTests(['src/lib.rs'], none, rust)).toEqual([])
})
