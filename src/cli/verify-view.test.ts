import { stripVTControlCharacters } from 'node:util'
import { expect, test, vi } from 'vitest'
import type { SandboxReport } from '../sandboxes/contract.ts'
import type { VerifierResponse, VerifyEvent } from '../verifier/contract.ts'
import { type ViewOptions, verifyView } from './verify-view.ts'

const steps = ['build', 'unit tests'].map((name) => ({
  name,
  command: `make ${name} ${'x'.repeat(80)}`,
  timeoutMs: 1_000,
}))
const applied = { kind: 'applied', value: 1 } as const
const report: SandboxReport = {
  engine: 'bubblewrap',
  engineVersion: '0.8.0',
  image: 'no image (node:24 is not used); the programs of this machine, read-only: /usr, /opt/tools',
  sandboxed: true,
  user: '1:1',
  network: 'none',
  workspace: 'overlay',
  limits: { memoryBytes: applied, cpus: applied, pids: applied, diskBytes: applied },
  shortfalls: [],
}
const failed: VerifierResponse = {
  status: 'FAIL',
  run_id: 'run_1',
  tail_log: 'all of it, also of the first step',
  artifact_paths: ['/runs/run_1/manifest.json', '/runs/run_1/logs/combined.log'],
  manifest: null,
}
const nothing = { commands: [], why: null }

function view(options: Partial<ViewOptions> = {}, { isTTY = false, env = {} } = {}) {
  const printed = { stdout: '', stderr: '', both: '' }
  const stream = (name: 'stdout' | 'stderr') => ({
    isTTY,
    columns: 60,
    color: false,
    write: (text: string) => {
      printed[name] += text
      printed.both += text
    },
  })
  const stop = new AbortController()
  const shown = verifyView(
    {
      cwd: '/',
      env,
      stdout: stream('stdout'),
      stderr: stream('stderr'),
      signal: stop.signal,
      setExitCode: () => {},
    },
    { steps, verbose: false, json: false, ...options },
  )
  return { ...shown, printed, stop }
}

const started = (index: number): VerifyEvent => ({
  kind: 'step_started',
  index,
  step: steps[index] ?? { name: 'none', command: 'none', timeoutMs: 1 },
})
const output = (index: number, text: string): VerifyEvent => ({ kind: 'step_output', index, text })
const ended = (index: number, exit_code: number | null): VerifyEvent => ({
  kind: 'step_ended',
  index,
  command: { name: steps[index]?.name ?? '', command: 'make', exit_code, duration_ms: 3_000 },
  timedOut: false,
})

test('the headline names the programs of the machine without their directories', () => {
  const { event, printed } = view()
  event({ kind: 'sandbox_opened', report })
  expect(printed.stdout).toBe(
    'bubblewrap 0.8.0, no image (node:24 is not used); the programs of this machine, read-only, workspace overlay, network none\n',
  )
})

test('an image id is shortened, a name is not', () => {
  const { event, printed } = view()
  event({ kind: 'sandbox_opened', report: { ...report, image: `sha256:${'a'.repeat(64)}` } })
  event({ kind: 'sandbox_opened', report: { ...report, image: 'registry.example:5000/node:24' } })
  expect(printed.stdout).toContain(`, sha256:${'a'.repeat(12)}, `)
  expect(printed.stdout).toContain(', registry.example:5000/node:24, ')
})

test('a warning about the sandbox is shown once, also over several runs', () => {
  const said = new Set<string>()
  const lacking: SandboxReport = {
    ...report,
    limits: { ...report.limits, cpus: { kind: 'not_applied', wanted: 4, why: 'no cgroup' } },
    shortfalls: ['Steps run as root.'],
  }
  for (const network of ['allow', 'none'] as const) {
    const { event, printed } = view({ said })
    event({ kind: 'sandbox_opened', report: { ...lacking, network } })
    const warnings = 'warning: no limit on processors (4): no cgroup\nwarning: Steps run as root.\n'
    expect(printed.stderr).toBe(network === 'allow' ? warnings : '')
  }
})

test('name and command of a step are separated; in a pipe they are complete', () => {
  const { event, printed } = view()
  event(started(1))
  expect(printed.stdout).toBe(`[2/2] unit tests  $ ${steps[1]?.command}\n`)
})

test('a failure shows only the output of its step, and the path of the log', () => {
  const { event, end, printed } = view()
  event(started(0))
  event(output(0, 'built\n'))
  event(ended(0, 0))
  event(started(1))
  event(output(1, 'expected 1, '))
  event(output(1, 'got 2\n'))
  event(ended(1, 2))
  end(failed, nothing)
  expect(printed.stdout).toMatch(
    /failed exit 2, 3\.0s\n\n {2}\| expected 1, got 2\n\nlog: \/runs\/run_1\/logs\/combined\.log\nFAIL {2}run_1\n$/,
  )
  expect(printed.stdout).not.toMatch(/built|all of it/)
})

test('a long failure shows its last 60 lines', () => {
  const { event, end, printed } = view()
  event(started(0))
  event(output(0, Array.from({ length: 100 }, (_, index) => `line ${index}.\n`).join('')))
  event(ended(0, 1))
  end(failed, nothing)
  expect(printed.stdout).not.toContain('line 39.')
  expect(printed.stdout).toContain('line 40.\n')
  expect(printed.stdout).toContain('line 99.\n')
})

test.each([
  [0, false],
  [null, true],
])(
  'when infrastructure fails, only the output of the affected step is shown: exit %s',
  (exitCode, isShown) => {
    const { event, end, printed } = view()
    event(started(0))
    event(output(0, 'so far\n'))
    event(ended(0, exitCode))
    end({ ...failed, status: 'INFRA_ERROR', error_type: 'unknown', error_message: 'it broke' }, nothing)
    expect(printed.stdout.includes('so far')).toBe(isShown)
    expect(printed.stdout.includes('interrupted after 3.0s')).toBe(isShown)
  },
)

test('a cancelled step is neither failed nor unknown', () => {
  const { event, printed, stop } = view()
  event(started(0))
  stop.abort()
  event(ended(0, null))
  expect(printed.stdout).toMatch(/\n {6}cancelled after 3\.0s\n$/)
})

test('a terminal shows the last output of a running step in one rewritten line that fits', async () => {
  const { event, printed } = view({}, { isTTY: true })
  event(started(1))
  event(output(1, `compiled\nnow \u001b[31mlinking\u001b[0m ${'y'.repeat(90)}`))
  await vi.waitFor(() => expect(printed.stdout).toMatch(/running \d+s {2}now linking yyy/))
  event({ kind: 'progress', text: 'beside it' })
  // The moving line is removed first.
  expect(printed.both).toMatch(/\u001b\[2K[^\n]*beside it\n/)
  event(ended(1, 0))
  expect(printed.stdout).toContain('\u001b[')
  expect(printed.stdout).not.toContain('\u001b[31m')
  const lines = stripVTControlCharacters(printed.stdout).split('\n')
  expect(lines.slice(-2)).toEqual(['      ok exit 0, 3.0s', ''])
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60)
  expect(lines[0]).toMatch(/^\[2\/2\] unit tests {2}\$ make .*…$/)
  expect(printed.stderr).toBe('beside it\n')
})

test.each([
  ['a pipe', {}, { isTTY: false }],
  ['a dumb terminal', {}, { isTTY: true, env: { TERM: 'dumb' } }],
])('%s gets plain lines, and a heartbeat in a long silence', (_, options, place) => {
  vi.useFakeTimers()
  try {
    const { event, printed } = view(options, place)
    event(started(0))
    event(output(0, 'compiling\n'))
    vi.advanceTimersByTime(60_000)
    event(ended(0, 0))
    const after = printed.stdout
    vi.advanceTimersByTime(120_000)
    expect(printed.stdout).toBe(after)
    expect(after).toMatch(/\n {6}running \d+\w.* {2}compiling\n {6}ok exit 0, 3\.0s\n$/)
    expect(after).not.toContain('\u001b')
  } finally {
    vi.useRealTimers()
  }
})

test('with JSON, standard output contains nothing else; verbose output is printed as it arrives', () => {
  const silent = view({ json: true }, { isTTY: true })
  for (const event of [started(0), output(0, 'text\n'), ended(0, 0)]) silent.event(event)
  silent.warn('careful')
  expect(silent.printed).toMatchObject({ stdout: '', stderr: 'warning: careful\n' })
  const loud = view({ verbose: true }, { isTTY: true })
  const forged = output(0, 'text\n      ok exit 0, 1.0s\nPASS  run_1')
  for (const event of [started(0), forged, ended(0, 1)]) loud.event(event)
  loud.end(failed, nothing)
  expect(loud.printed.stdout.match(/^ {2}\| text$/gm)).toHaveLength(1)
  expect(loud.printed.stdout).not.toMatch(/^(?: *ok|PASS)/m)
})
