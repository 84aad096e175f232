import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { TaskRecord, TaskState } from '../../store/queue/contract.ts'
import type { TaskEvent, TaskStep } from '../contract.ts'
import { exportTrace, otlpDocument, taskSpans } from './export-trace.ts'
import { logRecord } from './log-record.ts'
import { prometheusText } from './prometheus-text.ts'
import { taskMetrics, taskTally } from './task-metrics.ts'

const steps: readonly TaskStep[] = [
  {
    kind: 'task_started',
    description: 'x'.repeat(300),
    dry_run: false,
    agent: 'builtin',
    model: 'anthropic:claude-x',
    sandbox: 'bubblewrap',
    run_id: 'run_1',
    resumed: false,
  },
  { kind: 'state_transition', from: 'IDLE', to: 'ANALYZING', reason: 'begun' },
  { kind: 'milestone', milestone: 'analyzing', text: 'Analyzing codebase...' },
  {
    kind: 'scout_query',
    scout: 'scout_a',
    summary: 'q',
    duration_ms: 40,
    success: true,
    tries: 1,
    cost_usd: 0.5,
    input_tokens: 10,
    output_tokens: 20,
  },
  {
    kind: 'scout_query',
    scout: 'scout_b',
    summary: 'q',
    duration_ms: 60,
    success: false,
    tries: 4,
    cost_usd: 0.25,
    input_tokens: 0,
    output_tokens: 0,
    error: 'no answer',
  },
  { kind: 'edit', agent: 'builtin', duration_ms: 100, files: ['a'], cost_usd: 0.25, ending: 'exited' },
  { kind: 'verifier_trigger', run_id: 'run_2', attempt: 1 },
  {
    kind: 'verifier_result',
    run_id: 'run_2',
    attempt: 1,
    status: 'FAIL',
    duration_ms: 200,
    failure: 'E   x',
  },
  { kind: 'replan', attempt: 3, strategy: 's' },
  { kind: 'verifier_result', run_id: 'run_3', attempt: 2, status: 'PASS', duration_ms: 300, failure: null },
  {
    kind: 'task_ended',
    state: 'SUCCESS',
    reason: 'verified',
    duration_ms: 900,
    run_ids: ['run_2', 'run_3'],
    attempts: 2,
    replans: 1,
    cost_usd: 1,
    summary: null,
    report: null,
  },
]
const events: readonly TaskEvent[] = steps.map((step, index) => ({
  ts: 1_700_000_000 + index,
  task_id: 'task_20260101_000000_abcdef',
  ...step,
}))

test('the structured log lists transitions, queries and verifications, without absent values', () => {
  const records = events.map(logRecord).filter((record) => record !== null)
  expect(records.map(({ event_type }) => event_type)).toEqual([
    'task_start',
    'state_transition',
    'scout_query',
    'scout_query',
    'edit',
    'verifier_trigger',
    'verifier_result',
    'replan',
    'verifier_result',
    'task_end',
  ])
  expect(records[0]).toEqual({
    timestamp: '2023-11-14T22:13:20.000Z',
    level: 'info',
    component: 'runner',
    message: 'task started',
    event_type: 'task_start',
    task_id: 'task_20260101_000000_abcdef',
    run_id: 'run_1',
    extra: {
      description: 'x'.repeat(200),
      dry_run: false,
      agent: 'builtin',
      model: 'anthropic:claude-x',
      sandbox: 'bubblewrap',
    },
  })
  expect(records[3]).toMatchObject({ level: 'error', component: 'scout_b', message: 'failed: no answer' })
  expect(records[6]).toMatchObject({ level: 'warning', component: 'verifier', message: 'FAIL: E   x' })
})

test('the tally of a task has its attempts, REPLANs, times and cost', () => {
  expect(taskTally(events)).toEqual({
    attempts: 2,
    replans: 1,
    scout_a_ms: [40],
    scout_b_ms: [60],
    verifier_ms: [200, 300],
    cost_usd: 1,
    duration_ms: 900,
  })
})

test('the tally includes a REPLAN that found no strategy, and its cost', () => {
  const replanned = events.filter(({ kind }) => kind !== 'replan')
  const ended = replanned.map((event) => (event.kind === 'task_ended' ? { ...event, cost_usd: 1.5 } : event))
  expect(taskTally(ended)).toMatchObject({ replans: 1, cost_usd: 1.5 })
})

test('the cost is unknown when a part of it is unknown', () => {
  const edit = { kind: 'edit', cost_usd: null }
  expect(taskTally([...events, edit]).cost_usd).toBeNull()
})

function record(state: TaskState, metrics: object | null): TaskRecord {
  return {
    id: 'task_x',
    repository: '/r',
    description: '',
    state,
    created_at: '',
    started_at: null,
    completed_at: null,
    dry_run: false,
    verbose: false,
    run_ids: [],
    task_run_id: null,
    current_attempt: 0,
    phase: null,
    summary: null,
    error_message: null,
    options: {},
    metrics: metrics === null ? null : { ...metrics },
  }
}

test('ten tasks give correct counts per state and latencies', () => {
  const tally = taskTally(events)
  const calm = { ...tally, attempts: 1, replans: 0, verifier_ms: [100] }
  const tasks = [
    ...Array.from({ length: 4 }, () => record('SUCCESS', calm)),
    ...Array.from({ length: 2 }, () => record('STUCK', tally)),
    record('CANCELLED', null),
    record('INFRA_ERROR', calm),
    record('RUNNING', null),
    record('QUEUED', null),
  ]
  expect(taskMetrics(tasks)).toMatchObject({
    tasks: {
      total: 10,
      by_state: { SUCCESS: 4, STUCK: 2, CANCELLED: 1, INFRA_ERROR: 1, RUNNING: 1, QUEUED: 1 },
      success_rate: 0.5,
      running: 1,
    },
    verification: { attempts: 9, average: 9 / 7, maximum: 2 },
    replan: { total: 2, average: 2 / 7, frequency: 2 / 7 },
    latency: {
      verifier: { count: 9, total_ms: 1_500, minimum_ms: 100, maximum_ms: 300, p50_ms: 100, p95_ms: 300 },
    },
  })
})

test('metrics without tasks are empty', () => {
  const metrics = taskMetrics([])
  expect(metrics.tasks.success_rate).toBeNull()
  const text = prometheusText(metrics)
  expect(text).toContain('gantry_tasks{state="QUEUED"} 0\n')
  expect(text).not.toContain('gantry_task_success_ratio ')
  expect(text).not.toContain('NaN')
})

test('every line of the metrics is valid for a scraper', () => {
  const text = prometheusText(taskMetrics([record('SUCCESS', taskTally(events))]))
  const sample = /^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+$/
  for (const line of text.trimEnd().split('\n'))
    expect(line).toMatch(line.startsWith('#') ? /^# (HELP|TYPE) [a-z_]+ ./ : sample)
  expect(text).toContain('gantry_component_latency_seconds{component="verifier",quantile="0.95"} 0.3\n')
})

test('a trace has the task at its root, and times, tokens and failures of its parts', () => {
  const spans = taskSpans(events)
  expect(spans.map(({ name, parent, failed }) => [name, parent, failed])).toEqual([
    ['invoke_workflow gantry.task', null, null],
    ['chat anthropic:claude-x', 'task', null],
    ['chat anthropic:claude-x', 'task', 'no answer'],
    ['invoke_agent builtin', 'task', null],
    ['gantry.verify', 'task', 'E   x'],
    ['gantry.verify', 'task', null],
  ])
  expect(spans[1]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'claude-x',
    'gen_ai.usage.input_tokens': 10,
  })
  expect(otlpDocument(spans, 'a', {}, '1')).toEqual(otlpDocument(spans, 'a', {}, '1'))
})

test('a trace is sent only to the collector named in the environment', async () => {
  const bodies: { url: string | undefined; headers: unknown; body: string }[] = []
  let status = 200
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      bodies.push({ url: request.url, headers: request.headers, body })
      response.writeHead(status).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_SERVICE_NAME: 'mine',
  }
  expect(await exportTrace(events, env)).toBeNull()
  expect(bodies).toMatchObject([
    { url: '/v1/traces', headers: { 'x-key': 'a b', 'content-type': 'application/json' } },
  ])
  const sent = JSON.parse(bodies[0]?.body ?? '')
  expect(sent.resourceSpans[0].resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'mine' },
  })
  const [root] = sent.resourceSpans[0].scopeSpans[0].spans
  expect(root).toMatchObject({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
  })
  status = 400
  expect(await exportTrace(events, env)).toBe('the trace was refused with status 400')
  expect(await exportTrace(events, {})).toBeNull()
  expect(await exportTrace(events, { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })).toContain('is grpc')
  expect(bodies).toHaveLength(2)
})
