import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  sampleRecord,
  sampleRecords,
  sampleRegressions,
  sampleRun,
  streamed,
  textSink,
  unpacked,
} from '../../../test/support/sample-run.ts'
import type { GantryEvent } from '../../core/event.ts'
import type { FinishedRun, ReporterContext } from '../contract.ts'
import { htmlReporter, writeHtml } from './html.ts'
import { transcript } from './transcript.ts'

async function page(run: FinishedRun, context: Partial<ReporterContext> = {}): Promise<string> {
  const sink = textSink()
  await htmlReporter({ sink, color: false, columns: 80, live: false, ...context }).runEnded?.(run)
  return unpacked(sink.text())
}

const conversation: readonly GantryEvent[] = [
  { ts: 100, event: 'setup_command', index: 0, command: 'git init', exit_code: 0, output: '', success: true },
  { ts: 101, event: 'message', role: 'user', text: 'Make a <b>note</b>' },
  { ts: 102, event: 'tool_call', id: 'a', tool: 'Bash', command: 'notes add x' },
  { ts: 102, event: 'tool_call', id: 'b', tool: 'Read', input: { path: 'x' } },
  { ts: 103, event: 'usage', input_tokens: 1, output_tokens: 1 },
  { ts: 104, event: 'tool_result', id: 'b', output: 'answer of b' },
  { ts: 105, event: 'tool_result', id: 'a', output: 'answer of a', exit_code: 2 },
  { ts: 106, event: 'output', text: 'one ' },
  { ts: 106, event: 'output', text: 'piece' },
  { ts: 107, event: 'complete', exit_code: 0, duration_secs: 7, ending: 'exited' },
]

test('the page allows only its own script and style, and loads nothing', async () => {
  const html = await page(sampleRun(sampleRecords, { regressions: sampleRegressions }))
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? ''
  for (const tag of ['script', 'style']) {
    const inline = [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))]
    expect(inline).toHaveLength(1)
    const hash = createHash('sha256')
      .update(inline[0]?.[1] ?? '')
      .digest('base64')
    expect(policy).toContain(`${tag}-src 'sha256-${hash}'`)
  }
  expect(policy).toContain("default-src 'none'")
  expect(html).not.toMatch(/\s(?:src|style|on\w+)=/)
  expect(html).not.toMatch(/https?:\/\/|@import|url\(/)
})

test('the inline script parses as JavaScript', async () => {
  const html = await page(sampleRun(sampleRecords))
  const script = /<script>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? ''
  expect(() => new Function(script)).not.toThrow()
})

test('the page contains verdict, totals, intervals, regressions, filters and every trial', async () => {
  const html = await page(sampleRun(sampleRecords, { regressions: sampleRegressions }))
  expect(html).toContain('<p class="badge">fail</p>')
  expect(html).toContain('Pass rate of claude-code, opus</p><p class="value">67%</p>')
  expect(html).toContain('Pass rate of codex</p><p class="value">100%</p>')
  expect(html).toContain('1 trial unmetered')
  expect(html).toContain('gate 2 (command_succeeds) passed 3 of 3 times before')
  expect(html.match(/<details class="trial /g)).toHaveLength(sampleRecords.length)
  expect(html).toContain('data-groups="fail flaky"')
  for (const filter of ['all', 'fail', 'flaky', 'infra', 'invalid'])
    expect(html).toContain(`data-filter="${filter}"`)
  expect(html).toContain('the judge answered no JSON')
  expect(html).toContain('3 of 4 links')
})

test('tool use has its own table, which is absent when no agent used the tool', async () => {
  const html = await page(sampleRun(sampleRecords))
  const [, table = ''] = html.split('<h2>Use of the tool</h2>')
  expect(table.slice(0, table.indexOf('</section>'))).toContain(
    '<tr><th scope="row">create-note</th><td class="agent">claude-code, opus</td><td class="number" data-label="commands">8</td><td class="number" data-label="errors">25%</td><td class="number" data-label="first try">75%</td><td class="number" data-label="help">1</td></tr>',
  )
  const { metrics } = sampleRecord()
  const unseen = sampleRecord({ metrics: { ...metrics, total_commands: 0, source: 'none' } })
  expect(await page(sampleRun([unseen]))).not.toContain('<h2>Use of the tool</h2>')
})

test('an interrupted run is marked at the top', async () => {
  const late = { id: 'late-1', case: 'late', agent: 'codex', model: 'default', attempt: 1 }
  const html = await page(sampleRun([sampleRecord()], { notRun: [late], interrupted: true }))
  expect(html).toContain('<p class="badge">interrupted</p>')
  expect(html).toContain('1 of 2 planned trials finished: 1 passed, 0 failed.')
})

test('a case with failures within the threshold is shown as passed', async () => {
  const records = [1, 2, 3, 4, 5].map((attempt) =>
    sampleRecord({ attempt, verdict: attempt === 1 ? 'fail' : 'pass' }),
  )
  expect(await page(sampleRun(records, { threshold: 0.8 }))).toContain('<tr class="pass">')
  expect(await page(sampleRun(records))).toContain('<tr class="fail">')
})

test('links to files are relative to the page, or file URLs when it has no path', async () => {
  const record = sampleRecord({ dir: '/artifacts/runs/r1/trials/a b#1' })
  expect(await page(sampleRun([record]), { path: '/artifacts/runs/r1/reports/x.html' })).toContain(
    'href="../trials/a%20b%231/"',
  )
  expect(await page(sampleRun([record]))).toContain('href="file:///artifacts/runs/r1/trials/a%20b%231/"')
})

test('a transcript is readable: results are under their calls, chunks of output are joined', async () => {
  const { html, cut } = await transcript(streamed(conversation))
  expect(cut).toBe(false)
  expect(html.split('\n')).toEqual([
    '<li class="harness"><span class="who">setup command</span> <span class="at">+0ms</span> <span class="chip good">exit 0</span><pre class="command">git init</pre></li>',
    '<li class="message user"><span class="who">user</span> <span class="at">+1.0s</span><p class="said">Make a &lt;b&gt;note&lt;/b&gt;</p></li>',
    '<li class="call"><span class="who">Bash</span> <span class="at">+2.0s</span><pre class="command">notes add x</pre><div class="result bad"><span class="chip bad">exit 2</span><pre>answer of a</pre></div></li>',
    '<li class="call"><span class="who">Read</span> <span class="at">+2.0s</span><pre>{',
    '  &quot;path&quot;: &quot;x&quot;',
    '}</pre><div class="result"><pre>answer of b</pre></div></li>',
    '<li class="harness"><span class="who">output</span> <span class="at">+6.0s</span><pre>one piece</pre></li>',
    '<li class="harness"><span class="who">agent ended</span> <span class="at">+7.0s</span> <span class="chip good">exit 0</span><p class="said">exited after 7.0s</p></li>',
  ])
})

test('a long transcript is cut, not read further, and links to the raw file', async () => {
  let read = 0
  const events = async function* (): AsyncGenerator<GantryEvent> {
    for (; read < 100_000; read++)
      yield { ts: read, event: 'message', role: 'assistant', text: `message ${read}` }
  }
  const html = await page(sampleRun([sampleRecord()], { events }), { path: '/x/report.html' })
  expect(read).toBe(5_000)
  expect(html).toContain('The transcript continues in <a href="../artifacts/runs/')
  const large: GantryEvent = { ts: 1, event: 'tool_result', output: 'x\n'.repeat(20_000) }
  const heavy = await transcript(streamed(Array.from({ length: 200 }, () => large)))
  expect(heavy.cut).toBe(true)
  expect(heavy.html.length).toBeLessThan(2_100_000)
  expect(heavy.html).toContain('characters left out here')
})

test('every trial of a large run has its prompt, its changes and its transcript', async () => {
  const records = Array.from({ length: 61 }, (_, index) =>
    sampleRecord({ case: `case-${index}`, prompt: `Do <${index}>.`, verdict: index === 7 ? 'fail' : 'pass' }),
  )
  const workspaceDiff = (): string => '--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+<new>\n'
  const html = await page(sampleRun(records, { workspaceDiff, events: () => streamed(conversation) }))
  expect(html.match(/<ol class="transcript">/g)).toHaveLength(61)
  expect(html.match(/<b>\+\+\+ a\.txt<\/b>/g)).toHaveLength(61)
  expect(html).toContain('<ins>+&lt;new&gt;</ins>')
  expect(html).toContain('<section><h4>Prompt</h4><pre>Do &lt;60&gt;.</pre></section>')
})

test('transcripts beyond what a browser opens are linked instead', async () => {
  const run = sampleRun([sampleRecord(), sampleRecord({ case: 'second' })], {
    events: () => streamed(conversation),
  })
  const sink = textSink()
  await writeHtml(run, sink, undefined, 10)
  expect(unpacked(sink.text()).match(/<ol class="transcript">/g)).toHaveLength(1)
  expect(sink.text()).toContain('because the page would become too large')
})

test('several agents get a table of cases by agents', async () => {
  const html = await page(
    sampleRun([
      sampleRecord(),
      sampleRecord({ agent: 'codex', verdict: 'fail' }),
      sampleRecord({ case: 'b' }),
    ]),
  )
  expect(html).toContain('<h2>Cases by agents</h2>')
  // A row has the colour of its worst cell, and a cell shows its trials.
  expect(html).toMatch(
    /<tr class="fail"><th scope="row">.*<td class="number fail" data-label="codex, opus"><button type="button" class="case" data-case="create-note" data-of="codex, opus">0\/1</,
  )
  expect(await page(sampleRun([sampleRecord()]))).not.toContain('Cases by agents')
})

test('unreadable or unknown events do not break the page', async () => {
  const events = async function* (): AsyncGenerator<GantryEvent> {
    yield JSON.parse('{"ts":1,"event":"from_the_future"}')
    throw new Error('no <such> file')
  }
  const html = await page(sampleRun([sampleRecord(), sampleRecord({ case: 'second' })], { events }))
  expect(html).toContain('The events could not be read: Error: no &lt;such&gt; file')
  expect(html.match(/<details class="trial /g)).toHaveLength(2)
})
