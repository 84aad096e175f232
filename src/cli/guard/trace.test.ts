import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { displayWidth } from '../../report/display-width.ts'
import type { CliContext, CliStream } from '../context.ts'
import { type TraceSources, traceCommand } from './trace.ts'

/** The ten lines of the original tool's acceptance check. */
const original = [
  ['10:00:00', 'Read', '{"file_path":"/src/app.ts"}'],
  ['10:00:05', 'Edit', '{"file_path":"/src/app.ts"}'],
  ['10:00:10', 'Bash', '{"command":"pytest tests/"}'],
  ['10:00:15', 'Edit', '{"file_path":"/src/app.ts"}'],
  ['10:00:20', 'Edit', '{"file_path":"/src/app.ts"}'],
  ['10:00:25', 'Edit', '{"file_path":"/src/app.ts"}'],
  ['10:00:30', 'Edit', '{"file_path":"/src/app.ts"}'],
  ['10:00:35', 'Edit', '{"file_path":"/src/app.ts"}'],
  ['10:00:40', 'Bash', '{"command":"npm test"}'],
  ['10:00:45', 'Write', '{"file_path":"/src/utils.ts"}'],
].map(
  ([time, tool, input]) =>
    `{"timestamp":"2026-02-19T${time}Z","tool":"${tool}","input":${input},"result":"success"}`,
)

let root: string
let log: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-trace-'))
  mkdirSync(join(root, '.harness'))
  log = join(root, '.harness/trace-log.jsonl')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('gantry guard trace', () => {
  test('reports ten lines of the original with total, tools in percent, hot file, loop and verification runs', async () => {
    writeFileSync(log, `${original.join('\n')}\n`)
    const { out } = await trace([])
    expect(out).toContain('TRACE ANALYSIS REPORT')
    expect(out).toContain('Total tool calls: 10')
    expect(out).toMatch(/Edit +6 +60%/)
    expect(out).toMatch(/\/src\/app\.ts +6 +5 +potential loop/)
    expect(out).toContain('Potential loop: /src/app.ts reached the threshold of 5 edits.')
    expect(out).toMatch(/Review these files .*consider\s+loop_detection\.edit_threshold/)
    expect(out).toMatch(/pytest tests\/ +test +1 +1 +0/)
    expect(out).toMatch(/npm test +test +1 +1 +0/)
    expect(out).toContain('From 2026-02-19 10:00:00 UTC to 2026-02-19 10:00:45 UTC: 45.0s')
  })

  test('reports that there is no loop and no verification', async () => {
    writeFileSync(log, `${original[0]}\n`)
    const { out } = await trace([])
    expect(out).toContain('No file reached the threshold of 5 edits.')
    expect(out).toContain('No verification command was found.')
  })

  test('an empty log gives an empty report', async () => {
    writeFileSync(log, '')
    const { out } = await trace([])
    expect(out).toContain('Total tool calls: 0')
    expect(out).toContain('No calls were recorded.')
  })

  test('a missing log is an error with a hint', async () => {
    await expect(trace([])).rejects.toMatchObject({ code: 'NOT_FOUND', exitCode: 2 })
    await expect(trace(['nowhere.jsonl'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(trace(['--session', 'gone'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('a file with a session, or an invalid time, is bad usage', async () => {
    writeFileSync(log, '')
    await expect(trace(['x', '--session', 'y'])).rejects.toMatchObject({ code: 'USAGE' })
    await expect(trace(['--since', 'yesterday'])).rejects.toMatchObject({ code: 'USAGE' })
    await expect(trace(['--since', '30'])).rejects.toMatchObject({ code: 'USAGE' })
  })

  test('rotated logs are read before the newest one', async () => {
    writeFileSync(join(root, '.harness/trace-log.2.jsonl'), `${original.slice(0, 2).join('\n')}\n`)
    writeFileSync(join(root, '.harness/trace-log.1.jsonl'), `${original.slice(2, 5).join('\n')}\n`)
    writeFileSync(log, `${original.slice(5).join('\n')}\n`)
    const { out } = await trace(['--json'])
    const report = JSON.parse(out)
    expect(report.total).toBe(10)
    expect(report.source.files).toHaveLength(3)
    expect(report.time).toMatchObject({ started_at: '2026-02-19T10:00:00.000Z', span_ms: 45_000 })
  })

  test('broken lines, unknown lines and truncated ends are counted and not fatal', async () => {
    writeFileSync(
      log,
      `${original[0]}\nnot json\n{"a":1}\n[1]\n12\nnull\n\n${original[1]}\n{"timestamp":"2026`,
    )
    const report = JSON.parse((await trace(['--json'])).out)
    expect(report.total).toBe(2)
    expect(report.source.broken_lines).toBe(5)
  })

  test('input as text, a missing result and an invalid time are read as far as possible', async () => {
    const lines = [
      { timestamp: 'soon', tool: 'Bash', input: 'go test ./...', result: 'success' },
      { tool: 'Edit', input: 'no json', result: 'success' },
      { timestamp: 5, tool: 'Write', input: null },
    ]
    writeFileSync(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const report = JSON.parse((await trace(['--json'])).out)
    expect(report.verification).toMatchObject([{ command: 'go test ./...', runs: 1, passed: 1 }])
    expect(report.hot_files).toMatchObject([{ path: 'unknown', edits: 2 }])
    expect(report.results.unknown).toBe(1)
    expect(report.time.started_at).toBeNull()
  })

  test('--since shows only newer records', async () => {
    writeFileSync(log, `${original.join('\n')}\n`)
    const report = JSON.parse((await trace(['--json', '--since', '2026-02-19T10:00:30Z'])).out)
    expect(report).toMatchObject({ total: 4, source: { left_out: 6 } })
    expect(JSON.parse((await trace(['--json', '--since', '1h'])).out).total).toBe(0)
  })

  test.each([40, 80])('fits %i columns, whatever the log contains', async (columns) => {
    const wide = ['Edit', 'Bash', `mcp__${'server'.repeat(20)}__tool`].flatMap((tool) =>
      Array.from({ length: 7 }, () => ({
        timestamp: '2026-02-19T10:00:00Z',
        tool,
        input: { file_path: `/very/${'long/'.repeat(30)}path.ts`, command: `npm test -- ${'x'.repeat(300)}` },
        result: 'failure',
      })),
    )
    const lines = [...wide, ...wide.map((line) => ({ ...line, result: 'success' }))]
    writeFileSync(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { out } = await trace([], { columns, isTTY: true, color: true })
    const widths = stripVTControlCharacters(out).split('\n').map(displayWidth)
    expect(Math.max(...widths)).toBeLessThanOrEqual(columns)
    expect(out).toContain('\u001b[')
    expect((await trace([], { columns, isTTY: true })).out).not.toContain('\u001b[')
  })

  test('writes one self-contained page, with hostile text escaped', async () => {
    const hostile = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>\u001b[31m'
    const lines = [
      { timestamp: '2026-02-19T10:00:00Z', tool: hostile, input: { command: hostile }, result: 'failure' },
      {
        timestamp: '2026-02-19T10:00:09Z',
        tool: 'Edit',
        input: { file_path: hostile },
        result: 'denied',
        rule: hostile,
      },
      {
        timestamp: '2026-02-19T10:00:12Z',
        tool: 'Bash',
        input: { command: `npm test ${hostile}` },
        result: 'success',
      },
    ]
    writeFileSync(log, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { out } = await trace(['--html', 'out/report.html'])
    expect(out).toContain('Wrote out/report.html')
    const page = readFileSync(join(root, 'out/report.html'), 'utf8')
    expect(page).not.toMatch(/<script|<img|\u001b|<link|https?:\/\/(?!www\.w3\.org)|style="/)
    expect(page).toContain('&lt;script&gt;')
    expect(page).toContain('prefers-color-scheme: dark')
    expect(page).toMatch(/<rect class="fail"/)
    expect(page).toMatch(/<rect class="infra"/)
    for (const tag of ['main', 'section', 'table', 'svg', 'tr', 'ul', 'div'])
      expect(page.split(`<${tag}`).length, tag).toBe(page.split(`</${tag}>`).length)
  })

  test('with --json and --html standard output contains only JSON', async () => {
    writeFileSync(log, `${original.join('\n')}\n`)
    const { out } = await trace(['--json', '--html', 'page.html'])
    expect(JSON.parse(out).total).toBe(10)
    expect(existsSync(join(root, 'page.html'))).toBe(true)
  })

  test('a control character in a log cannot reach the terminal', async () => {
    const line = {
      timestamp: '',
      tool: 'Ba\u001b]0;title\u0007sh',
      input: { file_path: 'a\nb\u001b[2J' },
      result: 'failure',
    }
    writeFileSync(log, `${JSON.stringify(line)}\n`)
    const { out } = await trace([])
    expect(out).not.toMatch(/[\u001b\u0007]/)
  })
})

async function trace(
  args: readonly string[],
  look: Partial<CliStream> = {},
): Promise<{ readonly out: string }> {
  let out = ''
  const stream: CliStream = {
    write: (text) => {
      out += text
    },
    isTTY: false,
    columns: 80,
    color: false,
    ...look,
  }
  const context: CliContext = {
    cwd: root,
    env: {},
    stdout: stream,
    stderr: stream,
    signal: new AbortController().signal,
    setExitCode: () => {},
  }
  const sources: TraceSources = {
    project: async ({ cwd }) => ({ stateDir: join(cwd, '.harness'), editThreshold: 5 }),
    sessionLedgerPath: async () => null,
  }
  await traceCommand(context, sources)
    .exitOverride()
    .parseAsync([...args], { from: 'user' })
  return { out }
}
