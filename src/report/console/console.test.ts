import { stripVTControlCharacters } from 'node:util'
import { afterEach, expect, test, vi } from 'vitest'
import {
  sampleRecord,
  sampleRecords,
  sampleRegressions,
  sampleRun,
  textSink,
} from '../../../test/support/sample-run.ts'
import type { TrialRecord } from '../../core/trial.ts'
import type { FinishedRun, ReporterContext } from '../contract.ts'
import { displayWidth } from '../display-width.ts'
import { openConsole } from './console.ts'

const start = Date.parse('2026-01-02T03:04:05Z')
const late = { id: 'late-1', case: 'late', agent: 'codex', model: 'default', attempt: 1 }
const full = sampleRun(sampleRecords, {
  regressions: sampleRegressions,
  notRun: [late],
  diagnose: ({ verdict }) => (verdict === 'fail' ? ['The documentation may show wrong examples.'] : []),
})

async function shown(run: FinishedRun, context: Partial<ReporterContext> = {}): Promise<string> {
  const sink = textSink()
  const reporter = await openConsole({ sink, color: false, columns: 80, live: false, ...context })
  reporter.runStarted?.(run)
  for await (const record of run.records()) {
    reporter.trialStarted?.(record)
    reporter.trialEnded?.(record)
  }
  await reporter.runEnded?.(run)
  return sink.text()
}

afterEach(() => void vi.useRealTimers())

test('a run in a pipe is plain lines, an explanation, a table, totals and next steps', async () => {
  expect(await shown(full)).toMatchInlineSnapshot(`
    "notes suite: 7 trials, 4 at a time (run_20260102_030405_abc123)

    ✓ create-note (claude-code, opus)  12.3s  $0.0421
    ✓ create-note (claude-code, opus) #2  12.3s  $0.0421  cached
    ✗ create-note (claude-code, opus) #3  12.3s  $0.0421
        1 of 2 gates failed
    ✓ link-notes (codex)  12.3s  score 0.91
    ! search (codex)  12.3s  $0.0421  try 3
        the model refused the key
    ? broken-setup (claude-code, opus)  12.3s  $0.0000
        setup command 1 ended with exit code 127

    What did not pass

    ✗ create-note (claude-code, opus) #3
      1 of 2 gates failed
      ✗ command_succeeds: notes check ended with exit code 2
          unexpected paths:
          │ tmp/a.txt
          │ tmp/b.txt
          output (last 10 of 14 lines):
          │ line 5
          │ line 6
          │ line 7
          │ line 8
          │ line 9
          │ line 10
          │ line 11
          │ line 12
          │ line 13
          │ line 14
      use of the tool: 8 commands, 2 errors (25%), 2 retries, 1 call for help, 75%
      right at the first try
      likely cause: The documentation may show wrong examples.
      files: /artifacts/runs/run_20260102_030405_abc123/trials/create-note-3

    ! search (codex)
      infra (infrastructure failed): the model refused the key
      files: /artifacts/runs/run_20260102_030405_abc123/trials/search-1

    ? broken-setup (claude-code, opus)
      invalid (the case is broken): setup command 1 ended with exit code 127
      files: /artifacts/runs/run_20260102_030405_abc123/trials/broken-setup-1

    Cases

      case          pass  rate  interval  pass^3  score     cost   time
      claude-code, opus:
    ? broken-setup     -     -         -       -      -        -      -
    ✗ create-note    2/3   67%    9-100%      0%      -  $0.0421  12.3s  flaky
      codex:
    ✓ link-notes     1/1  100%    2-100%       -   0.91        -  12.3s
    ! search           -     -         -       -      -        -      -
      interval: 95% confidence interval of the pass rate.
      pass^3: all of 3 tries pass.
      flaky: the same case both passed and failed.
      Not shown (terminal too narrow): pass@3

    Use of the tool

      case         agent              commands  errors  first try  help
      create-note  claude-code, opus         8     25%        75%     1
      link-notes   codex                     8     25%        75%     1
      Means of counted trials. errors: commands that failed. first try: different
      commands that worked the first time. help: calls for help.

    Totals

      Trials     4 counted: 3 passed, 1 failed
      Note       1 trial failed for infrastructure reasons, 1 trial is invalid, 1
                 trial was not run. These are not counted.
      Pass rate  67% (9-100%) claude-code, opus, mean of 1 case with 95% interval
                 100% (2-100%) codex, mean of 1 case with 95% interval
      Flaky      100% of repeated cases both passed and failed
      Cost       $0.1263, and 1 trial unmetered
      Time       2m 5s, 1 trial from the cache
      Retries    2 retries after infrastructure failures

    Regressions

      alert: create-note (claude-code, opus): gate 2 (command_succeeds) passed 3 of
      3 times before and 2 of 3 times now

    ✗ FAIL  1 of 4 counted trials failed.

      Files  /artifacts/runs/run_20260102_030405_abc123
      Next   Run only the failed trials again: add --rerun-failed
             Fix the cases marked invalid; their reasons are above
             Fix what broke the infra trials, then continue with --resume
             run_20260102_030405_abc123
    "
  `)
})

test('everything fits forty columns except paths, which are not wrapped', async () => {
  const text = await shown(full, { columns: 40 })
  const [, ending = ''] = text.split('What did not pass')
  const wide = ending.split('\n').filter((line) => displayWidth(line) > 40)
  expect(wide.every((line) => line.includes('/artifacts/'))).toBe(true)
  expect(ending).toContain(
    '  case          pass  rate  interval\n  claude-code, opus:\n? broken-setup     -     -         -\n✗ create-note    2/3   67%    9-100%\n  codex:\n',
  )
  expect(ending).toContain('  Not shown (terminal too narrow):\n  pass@3, pass^3, score, cost, time\n')
})

test.each([20, 28, 34, 40, 52, 64, 80, 100, 120])(
  'at %d columns a table fits, has complete titles and explains only the columns shown',
  async (columns) => {
    const records = sampleRecords.flatMap((record) => [record, { ...record, agent: 'ci', model: 'default' }])
    const text = await shown(sampleRun(records), { columns })
    const tables = text.slice(text.indexOf('\nCases\n'), text.indexOf('\nTotals\n'))
    for (const line of tables.split('\n')) expect(displayWidth(line)).toBeLessThan(Math.max(columns, 22))
    const headings = tables.split('\n').filter((line) => /^ {2}case\b/.test(line))
    expect(headings).toHaveLength(2)
    const known =
      'case|agent|pass|rate|interval|pass@2|pass@3|pass\\^3|score|cost|time|commands|errors|first try|help'
    for (const heading of headings) expect(heading).toMatch(new RegExp(`^(\\s+(${known}))+$`))
    const words = tables.replaceAll(/\s+/g, ' ')
    expect(words.includes('interval: 95%')).toBe(headings[0]?.includes('interval'))
    expect(words.includes('pass@3: at')).toBe(headings[0]?.includes('pass@3'))
    expect(words.includes('first try: ')).toBe(headings[1]?.includes('first try'))
  },
)

test('a short agent name does not hide the title of its column', async () => {
  const text = await shown(sampleRun([sampleRecord({ agent: 'a', model: 'default' })]))
  expect(text).toContain('  case         agent  pass')
})

test('a run without counted trials explains no interval', async () => {
  const text = await shown(sampleRun([sampleRecord({ verdict: 'infra' })], { maxInfraRate: 0 }))
  expect(text).toContain('! create-note  claude-code, opus\n')
  expect(text).not.toContain('interval:')
  expect(text).not.toContain('Use of the tool')
})

test('two versions of guidance can be compared by tool use', async () => {
  const [{ metrics }] = [sampleRecord()]
  const used = (
    name: string,
    change: Partial<typeof metrics>,
    more: Partial<TrialRecord> = {},
  ): TrialRecord => sampleRecord({ case: name, metrics: { ...metrics, ...change }, ...more })
  const text = await shown(
    sampleRun([
      used('terse', { total_commands: 3, error_rate: 1 / 3, first_try_success_rate: 2 / 3 }),
      used('terse', { total_commands: 4, error_rate: 0, help_invocations: 0 }, { attempt: 2 }),
      used('with-example', {
        total_commands: 1,
        error_rate: 0,
        first_try_success_rate: 1,
        help_invocations: 0,
      }),
      used('unused', { total_commands: 0, error_rate: 0, first_try_success_rate: 0, help_invocations: 0 }),
      used('broken', {}, { verdict: 'invalid' }),
    ]),
  )
  const [, table = ''] = text.split('Use of the tool\n')
  expect(table.slice(0, table.indexOf('\nTotals'))).toMatchInlineSnapshot(`
    "
      case          agent               commands  errors  first try  help
      terse         claude-code, opus        3.5     17%        71%   0.5
      unused        claude-code, opus  none seen       -          -     -
      with-example  claude-code, opus          1      0%       100%     0
      Means of counted trials. errors: commands that failed. first try: different
      commands that worked the first time. help: calls for help.
    "
  `)
})

test('after an interruption the end shows progress and how to continue', async () => {
  const run = sampleRun([sampleRecord()], { notRun: [late], interrupted: true })
  expect(run.summary.verdict).toBe('partial')
  const text = await shown(run)
  expect(text).toContain('! INTERRUPTED  1 of 2 planned trials finished: 1 passed, 0 failed.')
  expect(text).not.toContain('PARTIAL')
  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    `Continue with --resume ${run.runId} to run the remaining trials`,
  )
  expect(await shown(sampleRun([], { notRun: [late], interrupted: true }))).toContain(
    '! INTERRUPTED  0 of 1 planned trial finished.',
  )
})

test('failures within the threshold are shown, and their cases count as passed', async () => {
  const records = Array.from({ length: 10 }, (_, index) =>
    sampleRecord({ attempt: index + 1, ...(index < 2 ? { verdict: 'fail', reason: 'no file' } : {}) }),
  )
  const run = sampleRun(records, { threshold: 0.8 })
  const text = await shown(run)
  expect(text).toContain('✓ PASS  2 of 10 counted trials failed, within the threshold of 80%.')
  expect(text).toMatch(/^✓ create-note .* 8\/10 /m)
  const failed = await shown(sampleRun(records, { threshold: 0.9 }))
  expect(failed).toContain('✗ FAIL  2 of 10 counted trials failed, more than the threshold of 90% allows.')
  expect(failed).toMatch(/^✗ create-note .* 8\/10 /m)
})

test('a gate message is not repeated, and zero values are not shown', async () => {
  const commands = ['jot add milk (exit code 2)', 'jot new bread (exit code 2)']
  const gate = (
    failed: readonly string[],
    source: string,
    unknown: number,
  ): TrialRecord['gates'][number] => ({
    type: 'no_transcript_errors',
    passed: false,
    message: `2 of 4 invocations failed: ${commands.join('; ')}`,
    detail: { invocations: 4, failed, unknown_exit_codes: unknown, source },
  })
  const explained = async (result: TrialRecord['gates'][number]): Promise<string> => {
    const text = await shown(sampleRun([sampleRecord({ verdict: 'fail', gates: [result] })]))
    return text.slice(text.indexOf('✗ no_transcript'), text.indexOf('  use of the tool'))
  }
  expect(await explained(gate(commands, 'events', 0))).toBe(
    '✗ no_transcript_errors: 2 of 4 invocations failed: jot add milk (exit code\n    2); jot new bread (exit code 2)\n',
  )
  const more = await explained(gate([...commands, 'jot del (exit code 1)'], 'transcript', 1))
  expect(more).toContain('      unknown exit codes: 1\n      source: transcript\n      failed:\n')
  expect(more).toContain('│ jot del (exit code 1)')
  expect(more).not.toContain('invocations: 4')
})

test('in a pipe the failed gates are printed once', async () => {
  const message = 'report.md does not contain "bread"'
  const gates = [{ type: 'file_contains', passed: false, message, detail: {} }]
  const record = sampleRecord({
    verdict: 'fail',
    reason: `the only gate failed: file_contains: ${message}`,
    gates,
  })
  const text = await shown(sampleRun([record]))
  expect(text.split(message)).toHaveLength(2)
  expect(text).toMatch(/^✗ create-note .*\n {4}1 of 1 gate failed$/m)
})

test('a terminal without UTF-8 gets ASCII only', async () => {
  const text = await shown(full, { ascii: true })
  expect(text).toMatch(/^[\n\x20-\x7e]*$/)
  expect(text).toContain('+ create-note')
  expect(text).toContain('x FAIL  1 of 4 counted trials failed.')
})

test('colour is used only when requested', async () => {
  expect(await shown(full)).not.toContain('\u001b')
  const colored = await shown(full, { color: true })
  expect(colored).toContain('\u001b[31m✗\u001b[39m')
  expect(stripVTControlCharacters(colored)).toBe(await shown(full))
})

test('unknown cost is never shown as money', async () => {
  const text = await shown(sampleRun([sampleRecord({ costUsd: null })]))
  expect(text).toContain('Cost       unmetered: no trial reported a price')
  expect(text).not.toContain('$')
})

test('a clean run reports success and no next steps', async () => {
  const text = await shown(sampleRun([sampleRecord()]))
  expect(text).not.toContain('What did not pass')
  expect(text).not.toContain('Next')
  expect(text).toContain('✓ PASS  1 counted trial passed, none failed.')
})

test('trials of a case that failed the same way are explained once', async () => {
  const failed = (attempt: number): TrialRecord =>
    sampleRecord({ attempt, verdict: 'fail', reason: 'no file' })
  const text = await shown(sampleRun([1, 2, 3].map(failed)))
  const [, ending = ''] = text.split('What did not pass')
  expect(ending.match(/no file/g)).toHaveLength(1)
  expect(ending).toContain('no file (3 attempts failed like this)')
})

test('in a large run passes are counted, not listed, and a limited number of failures is explained', async () => {
  const records = Array.from({ length: 3_000 }, (_, index) =>
    sampleRecord({
      case: `case-${index}`,
      ...(index % 10 === 0 ? { verdict: 'fail', reason: `reason ${index}` } : {}),
      ...(index % 10 === 1 ? { verdict: 'infra', reason: 'rate limit' } : {}),
    }),
  )
  const text = await shown(sampleRun(records))
  expect(text).toContain('✓ 2,400 trials passed (not listed one by one)')
  expect(text).toContain('! 300 trials, for example case-1 (claude-code, opus)')
  expect(text).toContain('and 280 more trials, not shown here')
  expect(text).toMatch(/and 2,\d+ more rows/)
  expect(text.split('\n').length).toBeLessThan(1_500)
})

test('an agent cannot control the terminal or issue a workflow command', async () => {
  const evil = '\u001b]0;pwn\u0007\u001b[2J\u202e\r\n::error::x\u009b31m'
  const record = sampleRecord({
    verdict: 'fail',
    case: evil,
    agent: evil,
    model: evil,
    reason: evil,
    dir: evil,
    gates: [
      {
        type: evil,
        passed: false,
        message: evil,
        detail: { [evil]: evil, list: [evil], output: `a\n${evil}` },
      },
    ],
    evaluators: [{ name: evil, error: evil }],
    warnings: [evil],
  })
  const run = sampleRun([record], { title: evil, diagnose: () => [evil], nextSteps: [evil], runDir: evil })
  for (const live of [false, true]) {
    const text = await shown(run, { live })
    expect(text).not.toMatch(/[\u009b\u0007\u202e\r]|\u001b\]|pwn/)
    expect(stripVTControlCharacters(text)).not.toMatch(/^\s*::/m)
  }
})

test('the live view shows progress, running trials and finished trials, and leaves only lines behind', async () => {
  vi.useFakeTimers({ now: start })
  const sink = textSink()
  const running = sampleRun(Array.from({ length: 40 }, (_, index) => sampleRecord({ case: `case-${index}` })))
  const reporter = await openConsole({
    sink,
    color: false,
    columns: 80,
    live: true,
    size: () => ({ columns: 60, rows: 10 }),
    clock: { now: () => new Date() },
  })
  reporter.runStarted?.(running)
  for (let index = 0; index < 20; index++)
    reporter.trialStarted?.({
      id: `t${index}`,
      case: `a-case-with-a-very-long-name-that-does-not-fit-${index}`,
      agent: 'codex',
      model: 'default',
      attempt: 1,
    })
  vi.advanceTimersByTime(10_000)
  reporter.trialEnded?.(sampleRecord({ id: 't0', verdict: 'fail', reason: 'no file', durationMs: 10_000 }))
  vi.advanceTimersByTime(200)
  const frame = screen(sink.text())
  expect(frame).toEqual([
    'notes suite: 40 trials, 4 at a time',
    '(run_20260102_030405_abc123)',
    '',
    '✗ create-note (claude-code, opus)            10.0s  $0.0421',
    '    no file',
    '',
    '█░░░░░░░░░░░░░░░░░░░░░░░░░  1 of 40  10s, about 1m 38s left',
    '✓ 0  ✗ 1  19 running',
    '10s  a-case-with-a-very-long-na…hat-does-not-fit-1 (codex)',
    '10s  a-case-with-a-very-long-na…hat-does-not-fit-2 (codex)',
    '10s  a-case-with-a-very-long-na…hat-does-not-fit-3 (codex)',
    '10s  a-case-with-a-very-long-na…hat-does-not-fit-4 (codex)',
    'and 15 more',
  ])
  await reporter.runEnded?.(sampleRun([sampleRecord({ verdict: 'fail', reason: 'no file' })]))
  const left = screen(sink.text())
  expect(left.slice(0, 6)).toEqual([...frame.slice(0, 5), ''])
  expect(left.join('\n')).not.toContain('█')
  expect(vi.getTimerCount()).toBe(0)
})

test('thousands of fast trials are drawn in batches', async () => {
  vi.useFakeTimers({ now: start })
  let writes = 0
  const context = { sink: { write: () => void writes++ }, color: false, columns: 80, live: true }
  const reporter = await openConsole(context)
  const record = sampleRecord({ verdict: 'fail' })
  reporter.runStarted?.(sampleRun(Array.from({ length: 5_000 }, () => record)))
  const before = writes
  for (let index = 0; index < 5_000; index++) reporter.trialEnded?.(record)
  expect(writes).toBe(before)
  vi.advanceTimersByTime(100)
  expect(writes - before).toBeLessThan(5)
})

test('a silent pipe gets a heartbeat twice a minute', async () => {
  vi.useFakeTimers({ now: start })
  const sink = textSink()
  const reporter = await openConsole({
    sink,
    color: false,
    columns: 80,
    live: false,
    clock: { now: () => new Date() },
  })
  reporter.runStarted?.(sampleRun(sampleRecords))
  reporter.trialStarted?.(sampleRecord())
  vi.advanceTimersByTime(29_000)
  expect(sink.text().trimEnd().split('\n')).toHaveLength(1)
  vi.advanceTimersByTime(62_000)
  expect(sink.text().trimEnd().split('\n').slice(2)).toEqual([
    '  0 of 6 done, 0 not passed, 1 running after 1m',
    '  0 of 6 done, 0 not passed, 1 running after 1m 30s',
  ])
})

/** Emulates a terminal for the sequences that the live view uses. */
function screen(output: string): string[] {
  const lines = ['']
  let row = 0
  let column = 0
  for (const [token, parameter, final] of output.matchAll(/\u001b\[\??([\d;]*)([A-Za-z])|[^\u001b]/g)) {
    const count = Math.max(1, Number(parameter || 1))
    if (final === undefined && token === '\n') {
      row += 1
      column = 0
      lines[row] ??= ''
    } else if (final === undefined) {
      const line = (lines[row] ?? '').padEnd(column)
      lines[row] = line.slice(0, column) + token + line.slice(column + 1)
      column += 1
    } else if (final === 'A') row = Math.max(0, row - count)
    else if (final === 'B') row += count
    else if (final === 'G') column = count - 1
    else if (final === 'K') lines[row] = parameter === '2' ? '' : (lines[row] ?? '').slice(0, column)
  }
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1).map((line) => line.trimEnd())
}

test('a face with its own progress gets only the end, or trials without a header', async () => {
  const end = await shown({ ...full, consoleDetail: 'end' })
  expect(end).not.toContain('at a time')
  expect(end).not.toContain('✓ create-note')
  expect(end).not.toContain('not listed one by one')
  expect(end).toContain('What did not pass')
  const trials = await shown({ ...full, consoleDetail: 'trials' })
  expect(trials).not.toContain('at a time')
  expect(trials).toContain('✓ create-note')
})

test('a section that comes first is shown before the trials that did not pass', async () => {
  const section = (title: string, isFirst: boolean) => ({ title, isFirst, columns: [], rows: [] })
  const text = await shown({ ...full, sections: [section('Later', false), section('What to change', true)] })
  const order = ['What to change', 'What did not pass', 'Later'].map((title) => text.indexOf(`\n${title}\n`))
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(order).not.toContain(-1)
})
