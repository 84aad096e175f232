import fc from 'fast-check'
import { createFixture } from 'fs-fixture'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resolveModel } from '../../models/index.ts'
import type { TaskStep } from '../contract.ts'
import { checkScoutA, checkScoutB } from './checked-report.ts'
import { detectFacts, traceFrames } from './detect-facts.ts'
import { openScouts, readAnswer } from './open-scouts.ts'
import { outline, rankFiles, repoMap } from './repo-map.ts'
import { type ScoutAReport, type ScoutBReport, scoutAReportSchema } from './report-schemas.ts'
import { isExcluded, locate, readSourceTree, type SourceTree } from './source-tree.ts'

/** An in-memory tree of text files. */
function treeOf(files: Readonly<Record<string, string>>): SourceTree {
  return {
    paths: Object.keys(files).sort(),
    omitted: 0,
    has: (path) => Object.hasOwn(files, path),
    text: (path) => files[path] ?? null,
    lineCount: (path) => files[path]?.replace(/\n$/, '').split('\n').length ?? null,
  }
}

const tree = treeOf({
  'package.json': '{"devDependencies": {"vitest": "1"}, "scripts": {"test": "vitest run"}}',
  'src/parser.ts': 'export function parseFlags(argv: string[]) {\n  return argv\n}\n',
  'src/output.ts': 'export const print = 1\n',
  'test/parser.test.ts': "import { parseFlags } from '../src/parser.ts'\n",
})

const reportA: ScoutAReport = {
  schema_version: '1',
  repo_map: {
    relevant_files: [{ path: 'src/parser.ts', purpose: 'flags', relevance: 'primary' }],
    entry_points: ['src/output.ts', 'npm start'],
    dependency_graph: {},
  },
  risk_zones: [],
  change_boundaries: { safe_slices: [], ordering_constraints: [] },
  conventions: { naming: 'camelCase', patterns: [], anti_patterns: [] },
  prior_art: [],
  verification_tips: [],
  hypotheses: [],
}

const reportB: ScoutBReport = { schema_version: '1', environment_issues: [] }

describe('files hidden from Scouts', () => {
  test.each([
    '.env',
    '.env.local',
    'prod.env',
    'secrets.json',
    'my-Secret.txt',
    'aws_credentials',
    'a/server.KEY',
    'id_rsa',
    'id_rsa.pub',
    'id_ed25519',
    // Of the guard's list, with its names for a template and for source.
    'deploy/credentials.json',
    '.netrc',
    '.npmrc',
    'image.png',
    'lib/x.so',
    'a.tar',
    'f.woff2',
    'x.sqlite3',
    'node_modules/a/index.js',
    'src/__pycache__/a.py',
    'dist/a.js',
    '.git/config',
    '../out.ts',
    '/etc/passwd',
    'a/../../b',
    '.DS_Store',
    '.env/x.ts',
    'movie.MP4',
  ])('%s', (path) => {
    expect(isExcluded(path)).toBe(true)
  })

  test.each([
    'code.js',
    'src/environment.ts',
    'Makefile',
    '.github/workflows/ci.yml',
    'keyboard.ts',
    'src/outline.ts',
    '.env.example',
    'src/credentials.py',
    'src/secret-store.ts',
  ])('%s is visible', (path) => {
    expect(isExcluded(path)).toBe(false)
  })
})

describe('the tree', () => {
  test('only visible text files are listed, and links out are not read', async () => {
    await using fixture = await createFixture({
      '.env': 'A=1',
      'secrets.json': '{}',
      'image.png': 'x',
      'code.js': 'let a\nlet b\n',
      'odd.txt': 'a\0b',
      out: ({ symlink }) => symlink('/etc/passwd'),
    })
    const found = await readSourceTree(fixture.path, null)
    expect(found.paths).toEqual(['code.js', 'odd.txt', 'out'])
    expect(found.lineCount('code.js')).toBe(2)
    expect([found.text('odd.txt'), found.text('out'), found.text('.env')]).toEqual([null, null, null])
  })

  test('a task confined to a package sees only that package', async () => {
    await using fixture = await createFixture({ 'packages/a/x.ts': '', 'packages/ab/y.ts': '', 'z.ts': '' })
    expect((await readSourceTree(fixture.path, 'packages/a')).paths).toEqual(['packages/a/x.ts'])
  })
})

describe('the map', () => {
  test.each([
    [
      'a.ts',
      'export async function* go() {}\nclass A {}\nexport type T = 1\n  const inner = 1',
      ['go', 'A', 'T'],
    ],
    ['a.ts', 'export async function load() {}\nexport default class B {}', ['load', 'B']],
    ['a.py', 'class A:\n    def f(self):\n        pass\nasync def g():', ['A', 'f', 'g']],
    [
      'a.c',
      'static int add(int a,\n  int b)\n{\n  return add(1, 2);\n}\nstruct point {\n#define MAX 3',
      ['add', 'point', 'MAX'],
    ],
    ['a.go', 'func (s *S) Run() {}\ntype S struct {}', ['Run', 'S']],
    ['a.rs', 'pub fn f() {}\n  struct S;', ['f', 'S']],
    ['a.txt', 'function x() {}', []],
  ])('definitions of %s', (path, text, names) => {
    expect(outline(path, text).map(({ name }) => name)).toEqual(names)
  })

  test('files named by the question, or defining its words, come first', () => {
    const [first] = rankFiles(tree, 'Add a --json option to parseFlags')
    expect(first?.path).toBe('src/parser.ts')
    expect(rankFiles(tree, 'anything', ['src/output.ts'])[0]?.path).toBe('src/output.ts')
  })

  test('the map has content with line numbers, not only names', () => {
    const map = repoMap(tree, { question: 'parseFlags', maxTokens: 2_000 })
    expect(map).toContain('1| export function parseFlags(argv: string[]) {')
    expect(map).toContain('FILES (4):')
    expect(map).toContain('src/parser.ts (3)')
  })

  test('the map stays within its budget, and the same tree gives the same map', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}\.(ts|py|c)$/)
    const files = fc.dictionary(name, fc.string({ maxLength: 500, unit: 'grapheme' }), { maxKeys: 20 })
    fc.assert(
      fc.property(files, fc.string(), fc.integer({ min: 50, max: 2_000 }), (texts, question, maxTokens) => {
        const map = repoMap(treeOf(texts), { question, maxTokens })
        expect(map).toBe(repoMap(treeOf(texts), { question, maxTokens }))
        expect(map.length).toBeLessThanOrEqual(maxTokens * 4 + 300)
      }),
      { numRuns: 40 },
    )
  })
})

describe('paths and lines of an answer', () => {
  test.each([
    ['src/parser.ts', { kind: 'right' }],
    ['./src/parser.ts', { kind: 'repaired', path: 'src/parser.ts' }],
    ['/workspace/src/parser.ts:12', { kind: 'repaired', path: 'src/parser.ts' }],
    ['SRC/Parser.ts', { kind: 'repaired', path: 'src/parser.ts' }],
    ['parser.ts', { kind: 'repaired', path: 'src/parser.ts' }],
    ['src/gone.ts', { kind: 'unknown' }],
    ['../src/parser.ts', { kind: 'unknown' }],
    ['', { kind: 'unknown' }],
  ])('%s', (path, found) => {
    expect(locate(tree, path)).toEqual(found)
  })

  test('an invented path is dropped, a misspelt one repaired, a range clamped, and all are reported', () => {
    const zone = {
      risk_level: 'low' as const,
      complexity: 'low' as const,
      dependencies: [],
      invariants: [],
      rationale: '',
    }
    const { report, corrections } = checkScoutA(
      {
        ...reportA,
        repo_map: {
          ...reportA.repo_map,
          relevant_files: [
            { path: 'src/made-up.ts', purpose: '', relevance: 'primary' },
            { path: './src/parser.ts', purpose: '', relevance: 'primary' },
          ],
          entry_points: ['src/made-up.ts', 'npm start'],
        },
        risk_zones: [
          { file: 'src/parser.ts', start_line: 2, end_line: 900, ...zone },
          { file: 'src/parser.ts', start_line: 3, end_line: 1, ...zone },
          { file: 'src/parser.ts', start_line: 400, end_line: 401, ...zone },
          { file: 'nowhere.ts', start_line: 1, end_line: 1, ...zone },
        ],
        change_boundaries: {
          safe_slices: [
            {
              id: 's1',
              files: ['src/new.ts', 'lib/new.ts', '../x', 'src/output.ts'],
              description: '',
              complexity: 'low',
              order: 1,
            },
          ],
          ordering_constraints: [],
        },
        prior_art: [{ file: 'gone.ts', description: '', relevance: '' }],
      },
      tree,
    )
    expect(report.repo_map.relevant_files.map(({ path }) => path)).toEqual(['src/parser.ts'])
    expect(report.repo_map.entry_points).toEqual(['npm start'])
    expect(report.risk_zones.map(({ start_line, end_line }) => [start_line, end_line])).toEqual([
      [2, 3],
      [1, 3],
    ])
    expect(report.change_boundaries.safe_slices[0]?.files).toEqual(['src/new.ts', 'src/output.ts'])
    expect(report.prior_art).toEqual([])
    expect(corrections).toHaveLength(10)
  })

  test('a correct answer is unchanged', () => {
    expect(checkScoutA(reportA, tree)).toEqual({ report: reportA, corrections: [] })
  })

  test('detected facts replace what the model claims', () => {
    const facts = detectFacts(tree, [], '')
    const { report, corrections } = checkScoutB(
      {
        ...reportB,
        build: { detected_system: 'cargo', commands: { build: 'x' }, prerequisites: [], notes: '' },
        test: { detected_framework: 'jest', commands: { all: 'x' }, coverage_command: null, notes: '' },
        failure_analysis: {
          root_cause: 'x',
          affected_files: ['parser.ts', 'nope.ts'],
          suggested_investigation: [],
          is_flaky: false,
        },
      },
      tree,
      facts,
    )
    expect(report).toMatchObject({
      build: { detected_system: 'npm' },
      test: { detected_framework: 'vitest' },
      failure_analysis: { affected_files: ['src/parser.ts'] },
    })
    expect(corrections).toHaveLength(4)
  })
})

test('a failing log yields places in the tree and problems of the environment', () => {
  const log =
    'sh: 1: pytest: not found\n    at f (file:///workspace/src/parser.ts:2:3)\n  at src/parser.ts:99:1\nEROFS: x'
  expect(traceFrames(log, tree)).toEqual([{ path: 'src/parser.ts', line: 2 }])
  expect(detectFacts(tree, [], log).environmentIssues.map(({ issue }) => issue)).toEqual([
    'package.json has no lockfile beside it: what is installed may differ from run to run',
    'the program pytest is not in the image',
    'a step writes into the read-only workspace',
  ])
})

test.each([
  ['plain', JSON.stringify(reportA), 'report'],
  ['fenced', `Here:\n\`\`\`json\n${JSON.stringify(reportA)}\n\`\`\``, 'report'],
  ['another version', JSON.stringify({ ...reportA, schema_version: '2' }), 'wrong'],
  ['a field too many', JSON.stringify({ ...reportA, extra: 1 }), 'wrong'],
  ['prose', 'I looked around.', 'wrong'],
])('parses an answer: %s', (_, text, kind) => {
  expect(readAnswer(text, scoutAReportSchema).kind).toBe(kind)
})

describe('asking', () => {
  const open = async (answers: string, waits: number[] = []) => {
    const fixture = await createFixture({
      'model.yaml': `answers:\n${answers}`,
      'repo/a.ts': 'export const a = 1\n',
    })
    onTestFinished(() => fixture.rm())
    const model = await resolveModel('scripted:model.yaml', {
      env: {},
      base: fixture.path,
      retry: { attempts: 1, firstWaitMs: 0, longestWaitMs: 0 },
    })
    const steps: TaskStep[] = []
    const scouts = openScouts({
      model,
      root: fixture.getPath('repo'),
      packageDir: null,
      timeoutMs: 200,
      commands: async () => [],
      emit: (step) => steps.push(step),
      sleep: async (ms) => void waits.push(ms),
    })
    return { scouts, steps }
  }
  const { signal } = new AbortController()
  const good = `  - { json: ${JSON.stringify(reportA)}, usage: { input_tokens: 5, output_tokens: 7 } }\n`

  test('an answer has its raw text, and an event reports its cost', async () => {
    const { scouts, steps } = await open(good)
    const outcome = await scouts.askA({ question: 'which files?' }, signal)
    expect(outcome).toMatchObject({
      kind: 'answer',
      answer: {
        raw: JSON.stringify(reportA),
        corrections: expect.arrayContaining([expect.stringContaining('src/parser.ts')]),
      },
    })
    expect(steps[0]).toMatchObject({
      kind: 'scout_query',
      scout: 'scout_a',
      success: true,
      tries: 1,
      input_tokens: 5,
      output_tokens: 7,
    })
  })

  test('the third try answers after two failures', async () => {
    const waits: number[] = []
    const { scouts } = await open(`  - { error: overloaded }\n  - { error: rate_limit }\n${good}`, waits)
    expect((await scouts.askA({ question: 'q' }, signal)).kind).toBe('answer')
    expect(waits).toEqual([1_000, 2_000])
  })

  test('a question fails after one try and three retries', async () => {
    const waits: number[] = []
    const { scouts, steps } = await open('  - { error: unavailable, times: 9 }\n', waits)
    expect(await scouts.askA({ question: 'q' }, signal)).toMatchObject({ kind: 'failed', tries: 4 })
    expect(waits).toEqual([1_000, 2_000, 4_000])
    expect(steps[0]).toMatchObject({ success: false, tries: 4 })
  })

  test('an answer that does not fit the schema is not retried', async () => {
    const { scouts } = await open(`  - { json: { schema_version: "2" } }\n${good}`)
    expect(await scouts.askA({ question: 'q' }, signal)).toMatchObject({
      kind: 'failed',
      tries: 1,
      message: expect.stringContaining('schema_version is "2"'),
    })
  })

  test('a try that takes too long is retried', async () => {
    const { scouts } = await open(`  - { delay_ms: 5000, text: late }\n${good}`)
    expect((await scouts.askA({ question: 'q' }, signal)).kind).toBe('answer')
  })

  test('a cancelled question ends at once', async () => {
    const { scouts } = await open('  - { delay_ms: 5000, text: late }\n')
    const stop = new AbortController()
    const asked = scouts.askA({ question: 'q' }, stop.signal)
    setTimeout(() => stop.abort(), 20)
    expect((await asked).kind).toBe('cancelled')
  })

  test('each Scout has a separate history without failed questions', async () => {
    const { scouts } = await open(
      `  - { match: "Earlier question 1", json: ${JSON.stringify({ ...reportB, environment_issues: [{ issue: 'remembered', severity: 'warning', suggested_fix: '' }] })} }\n` +
        `  - { match: "a bad one", error: refused }\n` +
        `  - { match: "You are Scout B", json: ${JSON.stringify(reportB)} }\n` +
        `  - { json: ${JSON.stringify(reportA)}, times: 3 }\n`,
    )
    expect((await scouts.askA({ question: 'to A' }, signal)).kind).toBe('answer')
    expect((await scouts.askB({ question: 'a bad one' }, signal)).kind).toBe('failed')
    const first = await scouts.askB({ question: 'to B' }, signal)
    expect(first).toMatchObject({ answer: { report: { environment_issues: [] } } })
    const second = await scouts.askB({ question: 'to B again' }, signal)
    expect(second).toMatchObject({ answer: { report: { environment_issues: [{ issue: 'remembered' }] } } })
  })
})
