import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { sampleRecords, sampleRun, streamed, textSink, unpacked } from '../../test/support/sample-run.ts'
import type { Comparison } from '../core/comparison.ts'
import type { GantryEvent } from '../core/event.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { FinishedRun } from './contract.ts'
import { withComparisons } from './finished-run.ts'
import { openReporter, type ReporterName } from './index.ts'
import { evaluationMarkdown } from './md/evaluation-markdown.ts'

/** Text that breaks XML, HTML, Markdown, TAP, GitHub's log and terminals. */
const hostile =
  '\u001b]0;pwn\u0007\u001b[2J\r\n::error::x\n##[group]\n<script>alert(1)</script><img src=x onerror=alert(1)>" onmouseover="x \' --> ]]>&amp;\n' +
  '```\n| a | b |\n# h\nok 9 - x # SKIP\nBail out!\n...\n---\n- *x* _y_ [l](javascript:1) ![i](u) $m$ \\ %0A\ud800\0\u202e\u2028end'

/** Makes every string hostile, including the keys of free-form records. */
function poisoned<T>(value: T, keep: ReadonlySet<string> = kept): T {
  const walk = (part: unknown, key: string): unknown => {
    if (typeof part === 'string') return keep.has(key) ? part : `${part}${hostile}`
    if (Array.isArray(part)) return part.map((item) => walk(item, key))
    if (typeof part !== 'object' || part === null) return part
    const free = ['detail', 'metrics', 'subcommands', 'scores'].includes(key) && !('total_commands' in part)
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [free ? name + hostile : name, walk(inner, name)]),
    )
  }
  return walk(value, '') as T
}

const kept = new Set(['verdict', 'ending', 'kind', 'source', 'tier', 'event', 'role', 'stream', 'level'])

const events: readonly GantryEvent[] = [
  { ts: 1, event: 'spawn', command: 'a', args: ['b'] },
  {
    ts: 1,
    event: 'session',
    agent: 'a',
    agent_version: '1',
    model: 'm',
    plugins: ['p'],
    plugin_errors: ['e'],
    mcp_servers: ['s'],
  },
  { ts: 1, event: 'output', text: 'x' },
  { ts: 1, event: 'message', role: 'assistant', text: 'x' },
  { ts: 1, event: 'message', role: 'thinking', text: 'x' },
  { ts: 1, event: 'tool_call', id: 'i', tool: 't', command: 'c' },
  { ts: 1, event: 'tool_result', id: 'i', output: 'o' },
  { ts: 1, event: 'tool_call', tool: 't', input: { a: 'b' } },
  { ts: 1, event: 'hook', hook: 'h', name: 'n', outcome: 'o', output: 'x' },
  { ts: 1, event: 'error', reason: 'auth', message: 'm' },
  { ts: 1, event: 'raw', line: 'l' },
  { ts: 1, event: 'setup_command', index: 0, command: 'c', exit_code: 1, output: 'o', success: false },
  { ts: 1, event: 'post_script', command: 'c', exit_code: 1, timed_out: true, stdout: 'o', stderr: 'e' },
  { ts: 1, event: 'gate', index: 0, type: 't', passed: false, message: 'm' },
  { ts: 1, event: 'evaluator', name: 'n', error: 'e' },
  { ts: 1, event: 'judge', sample: 1, model: 'm', error: 'e' },
  { ts: 1, event: 'note', level: 'warning', message: 'm' },
]

const records: readonly TrialRecord[] = sampleRecords.map((record) => poisoned(record))
const named = { name: hostile, run_id: hostile }
const counts = { passes: 1, trials: 2, trial: hostile }
const comparison: Comparison = {
  schema_version: 1,
  before: named,
  after: { ...named, run_id: 'run' },
  verdict: 'inconclusive',
  difference: { value: 0, low: -1, high: 1 },
  p: 1,
  pairs: 1,
  unit: 'cases',
  preference: {
    model: hostile,
    pairs: 1,
    wins: 1,
    losses: 0,
    ties: 0,
    win_rate: { value: 1, low: 0, high: 1 },
    p: 1,
    unit: 'trials',
    order_effect: { value: 0, low: 0, high: 1, n: 1 },
    first_preferred: { value: null, low: 0, high: 1, n: 0 },
    longer_wins: { value: 1, low: 0, high: 1, n: 1 },
    cost_usd: null,
    not_judged: [{ reason: hostile, pairs: 1 }],
  },
  rounds: null,
  margin: 0.05,
  needed_trials_per_case: null,
  metrics: { cost_usd: null, tokens: null, time_ms: null, commands: null, errors: null },
  cases: [
    {
      case: hostile,
      agent: hostile,
      model: hostile,
      before: counts,
      after: { ...counts, passes: 2 },
      p: 1,
      gate: hostile,
    },
  ],
  left_out: [{ case: hostile, agent: hostile, model: hostile, reason: hostile }],
  regressions: [],
  doubts: [hostile],
}
const run: FinishedRun = {
  ...withComparisons([comparison]),
  ...sampleRun(records, {
    title: hostile,
    runId: hostile,
    runDir: hostile,
    version: hostile,
    startedAt: hostile,
    diagnose: () => [hostile],
    nextSteps: [hostile],
    notRun: [{ id: hostile, case: hostile, agent: hostile, model: hostile, attempt: 1 }],
    regressions: [
      { case: hostile, agent: hostile, model: hostile, kind: 'gate', severity: 'alert', message: hostile },
    ],
    events: () => streamed(events.map((event) => poisoned(event))),
  }),
}

async function written(name: ReporterName): Promise<string> {
  const sink = textSink()
  const reporter = await openReporter(name, { sink, color: false, columns: 80, live: false })
  reporter.runStarted?.(run)
  for (const record of records) {
    reporter.trialStarted?.(record)
    reporter.trialEnded?.(record)
  }
  reporter.note?.({ level: 'warning', message: hostile })
  await reporter.runEnded?.(run)
  return sink.text()
}

test('console: no control code, no command of a CI service', async () => {
  const text = await written('console')
  expect(text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
  expect(text).not.toMatch(/^\s*::|##\[/m)
  expect(text.isWellFormed()).toBe(true)
})

test('json: every byte is preserved', async () => {
  expect(JSON.parse(await written('json'))).toMatchObject({ run_id: hostile, trials: records })
})

test('junit: well-formed, with as many test cases as trials', async () => {
  const text = await written('junit')
  expect(XMLValidator.validate(text)).toBe(true)
  expect(text).not.toMatch(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/)
  expect(text).not.toMatch(/^\s*::/m)
  const { testsuites } = new XMLParser({
    ignoreAttributes: false,
    isArray: (name) => name === 'testcase',
  }).parse(text)
  expect(testsuites.testsuite.flatMap((suite: { testcase: unknown[] }) => suite.testcase)).toHaveLength(7)
  expect(text).not.toContain('<script')
})

test('tap: only valid TAP lines, with diagnostics in YAML', async () => {
  const text = await written('tap')
  const blocks = [...text.matchAll(/^ {2}---\n[\s\S]*?^ {2}\.\.\.\n/gm)].map(([block]) => block)
  expect(blocks).toHaveLength(6)
  for (const block of blocks) {
    const inner = block.split('\n').slice(1, -2)
    expect(parseDocument(inner.join('\n')).errors).toEqual([])
    expect(inner.every((line) => line.startsWith('  '))).toBe(true)
  }
  const rest = blocks
    .reduce((left, block) => left.replace(block, ''), text)
    .trimEnd()
    .split('\n')
  expect(rest.slice(0, 2)).toEqual(['TAP version 14', '1..7'])
  for (const [index, line] of rest.slice(2).entries()) {
    expect(line).toMatch(new RegExp(`^(not )?ok ${index + 1} - `))
    expect(/(?<!\\)# SKIP/.test(line)).toBe(index === 6)
  }
})

test('md, github summary and evaluation.md: no HTML, no broken table, no unclosed block', async () => {
  const evaluations = records.map((record) =>
    evaluationMarkdown(record, { links: { [hostile]: hostile }, diagnosis: [hostile] }),
  )
  for (const text of [await written('md'), ...evaluations]) {
    const prose = text.split('\n').filter((line) => !line.startsWith('>'))
    const tags = prose.join('\n').match(/<[a-z!/][^>]*>?/gi) ?? []
    expect(tags.filter((tag) => !tag.startsWith('<!--\nScore'))).toEqual([])
    expect(prose.filter((line) => /^\s*::|^```/.test(line))).toEqual([])
    let width: number | null = null
    for (const line of prose) {
      const cells = line.startsWith('|') ? line.replaceAll(/\\./g, '').split('|').length : null
      if (cells !== null && width !== null) expect(cells).toBe(width)
      width = cells
    }
  }
})

test('html: only its own tags, attributes and script', async () => {
  const html = unpacked(await written('html'))
  expect(html.match(/<script/g)).toHaveLength(1)
  expect(html).not.toMatch(/<img|" onmouseover=|[\0\u001b\u202e]/)
  const markup = html.replaceAll(/<script>[\s\S]*<\/script>|<style>[\s\S]*<\/style>|"[^"]*"/g, '')
  expect(markup).not.toMatch(/<[^>]*\s(?:on\w+|style|src)=/)
  expect(html.isWellFormed()).toBe(true)
})

test('github: only annotations, each on one line', async () => {
  const text = await written('github')
  const lines = text.split('\n')
  const commands = lines.filter((line) => /^\s*::/.test(line))
  expect(commands).toHaveLength(3)
  expect(lines.filter((line) => line.includes('##['))).toEqual(commands)
  for (const command of commands)
    expect(command).toMatch(/^::(?:error|warning) file=[^:,]*,line=1,title=[^:,]*::/)
})
