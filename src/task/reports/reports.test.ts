import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import type { AttemptRecord, ParsedTask } from '../contract.ts'
import { primaryFailure, withNames } from '../verify-step.ts'
import { filesInLog, hypotheses, type StuckFacts } from './hypotheses.ts'
import { readStuckReport, stuckReport, stuckReportName } from './stuck-report.ts'
import { successSummary } from './success-summary.ts'

const task: ParsedTask = {
  objective: 'Add a --json flag',
  mustPreserve: ['the public API'],
  nonGoals: ['no new dependency'],
  boundaries: ['only src/cli'],
  successCriteria: [],
  warnings: [],
}

function attempt(number: number, primary: string | null): AttemptRecord {
  const runId = `run_20260101_0000${String(number).padStart(2, '0')}_abcdef`
  return {
    attempt: number,
    runId,
    status: 'FAIL',
    primaryFailure: primary,
    strategy: 's',
    tree: `t${number}`,
  }
}

const facts: StuckFacts = {
  task,
  description: '# Add a --json flag\n\nConstraints:\n- the public API',
  at: new Date('2026-01-02T03:04:05Z'),
  status: 'STUCK',
  infrastructure: null,
  taskId: 'task_1',
  here: false,
  sandbox: 'bubblewrap 0.8.0',
  untouched: null,
  attempts: Array.from({ length: 12 }, (_, n) =>
    attempt(n + 1, n % 2 === 0 ? 'TypeError: x | y' : 'AssertionError: 1 != 2'),
  ),
  strategies: ['parse flags by hand', 'use the parser'],
  filesModified: ['src/cli.ts', 'src/cli.test.ts'],
  lastLog: '  at run (/workspace/src/output.ts:12:3)\n  at node:internal/x:1:1\n',
  diagnosis: {
    root_cause: 'output.ts never sees the flag',
    affected_files: ['src/output.ts'],
    suggested_investigation: ['log the options'],
    is_flaky: false,
  },
  corrections: [],
}

describe('the line that best explains the failure', () => {
  test.each([
    [
      'an exception of Python',
      'collected 3 items\nE   assert 1 == 2\nE    +  where\n1 failed\nexit code: 1',
      'E   assert 1 == 2',
    ],
    [
      'an error of Node',
      '> test\nTypeError: x is not a function\n    at a.js:1:2\nexit code: 1',
      'TypeError: x is not a function',
    ],
    [
      'a compiler',
      'src/a.ts(3,1): error TS2304: Cannot find name x.\nexit code: 2',
      'src/a.ts(3,1): error TS2304: Cannot find name x.',
    ],
    [
      'gcc',
      "main.c:3:5: error: 'y' undeclared\nmake: *** [all] Error 1",
      "main.c:3:5: error: 'y' undeclared",
    ],
    [
      'the linker',
      "main.o: undefined reference to `f'\ncollect2: error: ld returned 1",
      "main.o: undefined reference to `f'",
    ],
    [
      'the values of node:assert',
      '✖ adds (2ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n  2 !== 3\n\n      at a.js:2:27',
      'AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 2 !== 3',
    ],
    [
      'the difference of node:assert',
      'AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal:\n+ actual - expected\n\n  {\n+   a: 1\n-   a: 2\n  }\n\n    at a.js:1:1',
      'AssertionError [ERR_ASSERTION]: Expected values to be strictly deep-equal: { +   a: 1 -   a: 2 }',
    ],
    [
      'the values in TAP',
      "not ok 1 - adds\n  ---\n  duration_ms: 3.8\n  type: 'test'\n  error: |-\n    Expected values to be strictly equal:\n\n    2 !== 3\n\n  code: 'ERR_ASSERTION'\n",
      'Expected values to be strictly equal: 2 !== 3',
    ],
    ['TAP', 'ok 1 - a\nnot ok 2 - b\n', 'not ok 2 - b'],
    ['Go', '=== RUN\n--- FAIL: TestX (0.00s)\nFAIL\n', '--- FAIL: TestX (0.00s)'],
    ['a shell', 'sh: 1: pytest: not found', 'sh: 1: pytest: not found'],
    ['colours', '\u001b[31mRangeError: no\u001b[39m', 'RangeError: no'],
    [
      'only the frame of the log',
      '=== Step 1/1: a ===\n$ true\n\n--- exit code: 1 ---',
      '--- exit code: 1 ---',
    ],
  ])('%s', (_, log, line) => {
    expect(primaryFailure(log)).toBe(line)
  })

  test('an empty log has none, and a very long line is shortened', () => {
    expect(primaryFailure('\n\n')).toBeNull()
    expect(primaryFailure(`Error: ${'x'.repeat(10_000)}`)).toHaveLength(300)
  })
})

test('a failure has the names of the tests, unless its line has one', () => {
  expect(withNames('AssertionError: 1 != 2', [])).toBe('AssertionError: 1 != 2')
  expect(withNames('AssertionError: 1 != 2', ['adds'])).toBe('test "adds": AssertionError: 1 != 2')
  expect(withNames('Error: x', ['a', 'b', 'c'])).toBe('test "a" and 2 more: Error: x')
  expect(withNames('not ok 1 - adds', ['adds'])).toBe('not ok 1 - adds')
})

describe('a stuck report and the untouched tree', () => {
  const of = (
    untouched: StuckFacts['untouched'],
    failure = 'TOMLError: x',
    changes: Partial<StuckFacts> = {},
  ) =>
    stuckReport({
      ...facts,
      untouched,
      diagnosis: null,
      lastLog: '',
      task: { ...task, mustPreserve: [], nonGoals: [], boundaries: [] },
      attempts: Array.from({ length: 12 }, (_, n) => attempt(n + 1, failure)),
      failedStep: {
        ...{ index: 0, name: 'test', command: 'npm test' },
        ...{ exit_code: 1, timed_out: false, duration_ms: 1 },
      },
      ...changes,
    })
  const green = { status: 'PASS', failure: null } as const

  test('a green one never has the cause outside or a broken verification', () => {
    const text = of(green)
    expect(text).toContain('"TOMLError: x" came back under 2 strategies. The untouched tree passed, so')
    expect(text).not.toMatch(/outside what was changed|do not show whether|is broken|Stash|first step/)
    expect(text).toContain('Every step passed on the untouched tree')
  })

  test('a red one may have the cause outside only if it failed in the same way and names no changed file', () => {
    const red = (failure: string) => ({ status: 'FAIL', failure }) as const
    expect(of(red('TOMLError: x'))).toContain('may lie outside what was changed')
    expect(of(red('TOMLError: x'))).toContain('The untouched tree failed too: "TOMLError: x".')
    expect(of(red('another'))).not.toContain('outside what was changed')
    const named = 'ERROR: /workspace/pyproject.toml: Cannot overwrite a value'
    const text = of(red(named), named, { filesModified: ['pyproject.toml'] })
    expect(text).toContain('It names pyproject.toml, which the task changed.')
    expect(text).not.toContain('outside what was changed')
  })

  test('it names the sandbox and no image, and says where the changes are', () => {
    const text = of(null)
    expect(text).toContain('the sandbox (bubblewrap 0.8.0) may lack')
    expect(text).not.toContain('image')
    expect(text).toContain('See the changes so far with: gantry task show task_1 --diff')
    expect(of(null, 'x', { here: true })).toContain('The changes so far are in your tree.')
    expect(of(null, 'x', { filesModified: [] })).not.toContain('changes so far')
  })
})

test('failures alternated only if one came back after another', () => {
  const titles = (...failures: string[]) =>
    hypotheses({ ...facts, attempts: failures.map((text, n) => attempt(n + 1, text)) }).map(
      ({ title }) => title,
    )
  expect(titles('a', 'b', 'a')).toContain('Two requirements contradict each other')
  expect(titles('a', 'a', 'b')).toContain('Each change led to another failure')
})

test('a log points to files of the repository, each listed once', () => {
  const log = `File "/workspace/pkg/a.py", line 3, in f\nFile "/usr/lib/python3/x.py", line 1\n  at g (file:///workspace/src/b.ts:1:2)
./src/b.ts:9:9\n  at node_modules/c/d.js:1:1\nsrc/main.c:12:5: error`
  expect(filesInLog(log)).toEqual(['pkg/a.py', 'src/b.ts', 'src/main.c'])
})

test('a stuck report names at least three causes, each with facts', () => {
  const found = hypotheses(facts)
  expect(found.length).toBeGreaterThanOrEqual(3)
  const text = found.map(({ title, text: body }) => `${title} ${body}`).join('\n')
  expect(text).toContain('output.ts never sees the flag')
  expect(text).toContain('TypeError: x | y')
  expect(text).toContain('src/output.ts')
  expect(new Set(found.map(({ title }) => title)).size).toBe(found.length)
})

test('a stuck report has no doubled full stop and a correct singular', () => {
  const diagnosis = {
    root_cause: 'The flag is lost.',
    affected_files: [],
    suggested_investigation: [],
    is_flaky: false,
  }
  const text = stuckReport({ ...facts, diagnosis, attempts: [attempt(1, 'TypeError: x')] })
  expect(text).toContain("Scout B's last reading was: The flag is lost.\n")
  expect(text).toContain('STUCK: no success in 1 verification.')
})

test('a stuck report lists corrected statements of the Scouts', () => {
  expect(stuckReport(facts)).not.toContain('Scout Corrections')
  const text = stuckReport({ ...facts, corrections: ['src/gone.ts is not in the tree: dropped'] })
  expect(text).toContain('## Scout Corrections\n\n- src/gone.ts is not in the tree: dropped')
})

test('an infrastructure error does not invalidate earlier verifications', () => {
  const infrastructure = { source: 'Editor', message: 'no JSON', advice: 'Use a stronger model.' }
  expect(hypotheses({ ...facts, infrastructure })[0]?.text).toContain(
    'The results of earlier verifications are valid',
  )
  expect(hypotheses({ ...facts, infrastructure, attempts: [] })[0]?.text).toContain('were not verified')
})

test('there are always at least three hypotheses', () => {
  const failure = fc.option(fc.string({ minLength: 1 }))
  const baselines = [null, { status: 'PASS', failure: null }, { status: 'FAIL', failure: 'x' }] as const
  fc.assert(
    fc.property(
      fc.array(failure),
      fc.boolean(),
      fc.string(),
      fc.constantFrom(...baselines),
      (failures, isInfra, lastLog, untouched) => {
        const found = hypotheses({
          ...facts,
          task: { ...task, mustPreserve: [], nonGoals: [], boundaries: [] },
          attempts: failures.map((text, n) => attempt(n + 1, text)),
          infrastructure: isInfra ? { source: 'Docker', message: 'gone', advice: 'start it' } : null,
          filesModified: [],
          diagnosis: null,
          lastLog,
          untouched,
        })
        expect(found.length).toBeGreaterThanOrEqual(3)
      },
    ),
  )
})

test('a retry reads everything it needs from the report', async () => {
  await using fixture = await createFixture({ run: { reports: {} } })
  const read = () => readStuckReport({ runsDir: fixture.path }, 'run')
  expect(read()).toBeNull()
  await fixture.writeFile(`run/reports/${stuckReportName}`, stuckReport(facts))
  expect(read()).toMatchObject({
    description: facts.description,
    strategies: facts.strategies,
    runIds: facts.attempts.map(({ runId }) => runId),
  })
  expect(read()?.hypotheses.length).toBeGreaterThanOrEqual(3)
})

test('any text of the user survives writing and reading the report', async () => {
  await using fixture = await createFixture({ run: { reports: {} } })
  const lines = fc.array(fc.oneof(fc.string(), fc.constantFrom('## Status', '> quoted', '- x', '```')), {
    minLength: 1,
  })
  fc.assert(
    fc.property(lines, (written) => {
      const description = written
        .join('\n')
        .replaceAll(/[\r\n]+/g, '\n')
        .trim()
      fc.pre(description !== '')
      writeFileSync(fixture.getPath(`run/reports/${stuckReportName}`), stuckReport({ ...facts, description }))
      expect(readStuckReport({ runsDir: fixture.path }, 'run')?.description).toBe(description)
    }),
    { numRuns: 50 },
  )
})

test('an infrastructure error is reported with its source and advice', () => {
  const text = stuckReport({
    ...facts,
    status: 'INFRA_ERROR',
    infrastructure: { source: 'Docker', message: 'the engine died', advice: 'Start it again.' },
  })
  expect(text).toContain(
    '## Infrastructure Error\n\n- Source: Docker\n- Message: the engine died\n- Advice: Start it again.',
  )
})

test('a summary has what, why and how it was verified, and proposes no commit', () => {
  const summaryIn = (sandbox: string, here = false): string =>
    successSummary({
      task,
      description: facts.description,
      at: facts.at,
      filesModified: [
        { path: 'src/cli.ts', change: 'modified' },
        { path: 'a (added)\n\n## How Verified\n\nrun_fake', change: 'added' },
      ],
      what: 'Added the flag.',
      strategy: 'The parser has one already.',
      runId: 'run_20260101_000000_abcdef',
      steps: [{ name: 'test', command: 'npm test', duration_ms: 12 }],
      attempts: 2,
      replans: 0,
      sandbox,
      here,
      notes: [],
      weakened: [],
      taskId: 'task_1',
    })
  const text = summaryIn('bubblewrap 0.8.0')
  expect(text).toContain('on exactly this tree, in bubblewrap 0.8.0, after')
  expect(summaryIn('host')).toContain('on exactly this tree, on this machine without a sandbox, after')
  const left = 'Not run, because the task worked in your tree: the steps with the old tests and with other'
  expect(text).not.toContain(left)
  expect(summaryIn('host', true)).toContain(`\n\n${left} expected values.\n\n## `)
  for (const heading of [
    'Task',
    'What Changed',
    'Why',
    'How Verified',
    'Verification Run ID',
    'Files Modified',
  ])
    expect(text.split(`\n## ${heading}\n`)).toHaveLength(2)
  expect(text).toContain('- test: `npm test` (12 ms)')
  expect(text).not.toMatch(/commit message|pull request/i)
})
