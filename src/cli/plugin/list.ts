import { Command } from 'commander'
import pc from 'picocolors'
import type { EvaluationState } from '../../plugin/state/evaluation-state.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { Column } from '../../report/text-table.ts'
import type { RunRow } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'
import { count } from '../flag-values.ts'
import { formatAge, formatRunCost, formatRunResult, formatRunStatus } from '../runs/format-run.ts'

interface PluginListFlags {
  readonly plugin?: string
  readonly limit: number
  readonly json?: boolean
}

export function pluginListCommand(context: CliContext): Command {
  return new Command('list')
    .alias('ls')
    .description('List plugin evaluations, newest first.')
    .option('-p, --plugin <name>', 'only those of this plugin')
    .option('--limit <n>', 'show at most this many', count, 20)
    .option('--json', 'print JSON and nothing else on standard output')
    .action((flags: PluginListFlags) => listEvaluations(flags, context))
}

interface Row {
  readonly run: RunRow
  /** null when it cannot be read. */
  readonly state: EvaluationState | null
}

async function listEvaluations(flags: PluginListFlags, context: CliContext): Promise<void> {
  const { openProjectStore } = await import('../../config/open-project-store.ts')
  const { listRuns } = await import('../../store/list-runs.ts')
  const { readEvaluationState } = await import('../../plugin/pipeline/read-evaluation-state.ts')
  const { textTable } = await import('../../report/text-table.ts')
  const { stdout } = context
  const store = openProjectStore(context)
  const { runs } = await listRuns(store, { kind: 'plugin' })
  const rows = runs
    .map((run): Row => ({ run, state: readEvaluationState(run.dir) }))
    .filter(
      ({ state, run }) => flags.plugin === undefined || (state?.plugin_name ?? run.title) === flags.plugin,
    )
  const shown = rows.slice(0, flags.limit)
  if (flags.json === true) {
    stdout.write(`${JSON.stringify({ root: store.root, total: rows.length, runs: shown.map(document) })}\n`)
    return
  }
  if (shown.length === 0) {
    const whose = flags.plugin === undefined ? '' : ` of ${plainLine(flags.plugin)}`
    stdout.write(`No plugin evaluations${whose} in ${store.root}.\n`)
    return
  }
  const table = textTable(
    columns(stdout.color, store.clock.now().getTime()),
    shown,
    stdout.isTTY ? stdout.columns : Infinity,
  )
  for (const line of [table.heading, ...shown.map(table.line)]) stdout.write(`${line}\n`)
  if (rows.length > shown.length)
    stdout.write(`${rows.length - shown.length} older: --limit ${rows.length} shows all.\n`)
}

function columns(color: boolean, nowMs: number): readonly Column<Row>[] {
  const { bold, dim } = pc.createColors(color)
  return [
    { title: 'RUN', text: ({ run }) => plainLine(run.id), paint: bold },
    {
      title: 'WHEN',
      align: 'right',
      dropAt: 3,
      text: ({ run }) => formatAge(nowMs - Date.parse(run.startedAt)),
    },
    { title: 'PLUGIN', shorten: 'end', text: ({ run, state }) => plainLine(state?.plugin_name ?? run.title) },
    { title: 'STAGE', dropAt: 2, text: ({ state }) => state?.stage ?? 'unknown', paint: dim },
    { title: 'RESULT', text: resultOf, paint: (text, { run }) => formatRunStatus(text, run.status, color) },
    { title: 'COST', align: 'right', dropAt: 1, text: ({ run }) => formatRunCost(run.totals) },
  ]
}

function resultOf({ run: { status, totals, live }, state }: Row): string {
  if (live) return 'running'
  const ended = status === 'interrupted' && state?.error != null ? 'stopped' : status
  return formatRunResult(ended, totals?.trials === 0 ? null : totals)
}

function document({ run, state }: Row): Readonly<Record<string, unknown>> {
  return {
    run_id: run.id,
    run_dir: run.dir,
    plugin_name: state?.plugin_name ?? run.title,
    plugin_path: state?.plugin_path ?? null,
    stage: state?.stage ?? null,
    status: run.status,
    live: run.live,
    timestamp_start: run.startedAt,
    timestamp_end: run.endedAt,
    totals: run.totals,
    error: state?.error ?? null,
  }
}
