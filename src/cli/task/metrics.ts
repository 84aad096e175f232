import { Command, Option } from 'commander'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { formatPercent } from '../../report/quantity.ts'
import type { TaskMetrics } from '../../task/telemetry/task-metrics.ts'
import type { CliContext } from '../context.ts'
import { withTaskQueue } from './task-queue.ts'

export function taskMetricsCommand(context: CliContext): Command {
  return new Command('metrics')
    .description('Show tasks by state, attempts, REPLANs and latencies, over all tasks in the queue.')
    .option('--json', 'print JSON and nothing else on standard output')
    .addOption(
      new Option(
        '--prometheus',
        'print the text format of Prometheus, as /metrics of gantry serve does',
      ).conflicts('json'),
    )
    .action(async ({ json, prometheus }: { readonly json?: boolean; readonly prometheus?: boolean }) => {
      const { taskMetrics } = await import('../../task/telemetry/task-metrics.ts')
      const { prometheusText } = await import('../../task/telemetry/prometheus-text.ts')
      await withTaskQueue(context, (queue) => {
        const metrics = taskMetrics(queue.list())
        context.stdout.write(
          prometheus === true
            ? prometheusText(metrics)
            : json === true
              ? `${JSON.stringify(metrics)}\n`
              : metricsText(metrics),
        )
      })
    })
}

function metricsText({ tasks, verification, replan, latency }: TaskMetrics): string {
  const states = Object.entries(tasks.by_state).filter(([, count]) => count > 0)
  const number = (value: number | null): string => (value === null ? '-' : value.toFixed(1))
  const percent = (value: number | null): string => (value === null ? '-' : formatPercent(value))
  const time = (ms: number | null): string => (ms === null ? '-' : formatDuration(ms))
  const rows: readonly (readonly [string, string])[] = [
    ['tasks', `${tasks.total}${states.map(([state, count]) => `, ${count} ${state}`).join('')}`],
    ['success', percent(tasks.success_rate)],
    [
      'attempts',
      `${verification.attempts}, ${number(verification.average)} per task, at most ${verification.maximum}`,
    ],
    ['REPLANs', `${replan.total}, in ${percent(replan.frequency)} of tasks`],
    ...Object.entries(latency).map(
      ([name, values]) =>
        [
          name,
          `${counted(values.count, 'time')}, p50 ${time(values.p50_ms)}, p95 ${time(values.p95_ms)}, p99 ${time(values.p99_ms)}`,
        ] as const,
    ),
  ]
  return rows.map(([title, text]) => `${title.padEnd(10)} ${text}\n`).join('')
}
