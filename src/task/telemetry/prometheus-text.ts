import type { Latency, TaskMetrics } from './task-metrics.ts'

/** The text format of Prometheus, version 0.0.4. Unknown values are left out, as the format requires. */
export function prometheusText({ tasks, verification, replan, latency }: TaskMetrics): string {
  const latencies = Object.entries(latency)
  return [
    family(
      'gantry_tasks',
      'gauge',
      'Tasks by state.',
      Object.entries(tasks.by_state).map(([state, value]) => [`{state="${state}"}`, value]),
    ),
    family('gantry_task_success_ratio', 'gauge', 'Share of ended tasks that succeeded.', [
      ['', tasks.success_rate],
    ]),
    family('gantry_verification_attempts_total', 'counter', 'Verifications of ended tasks.', [
      ['', verification.attempts],
    ]),
    family('gantry_verification_attempts_max', 'gauge', 'Most verifications of one task.', [
      ['', verification.maximum],
    ]),
    family('gantry_replans_total', 'counter', 'REPLANs of ended tasks.', [['', replan.total]]),
    family('gantry_replan_ratio', 'gauge', 'Share of ended tasks with at least one REPLAN.', [
      ['', replan.frequency],
    ]),
    family(
      'gantry_component_latency_seconds',
      'summary',
      'Time of Scout queries and verifications.',
      latencies.flatMap(([component, values]) => summaryOf(component, values)),
    ),
  ].join('')
}

type Sample = readonly [suffix: string, value: number | null]

function summaryOf(
  component: string,
  { p50_ms, p95_ms, p99_ms, total_ms, count }: Latency,
): readonly Sample[] {
  const label = `component="${component}"`
  const quantile = (share: string, ms: number | null): Sample => [
    `{${label},quantile="${share}"}`,
    ms === null ? null : ms / 1000,
  ]
  return [
    quantile('0.5', p50_ms),
    quantile('0.95', p95_ms),
    quantile('0.99', p99_ms),
    [`_sum{${label}}`, total_ms / 1000],
    [`_count{${label}}`, count],
  ]
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.flatMap(([suffix, value]) => (value === null ? [] : [`${name}${suffix} ${value}\n`]))
  // Leave out a family without samples.
  if (lines.length === 0) return ''
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}
