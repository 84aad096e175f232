import { Command, Option } from 'commander'
import pc from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { Column } from '../../report/text-table.ts'
import { type RunKind, type RunRow, runKinds } from '../../store/contract.ts'
import type { CliContext } from '../context.ts'
import { count } from '../flag-values.ts'
import { queueOption, withQueue } from '../queue.ts'
import { formatAge, formatRunCost, formatRunResult, formatRunStatus } from './format-run.ts'

interface ListFlags {
  readonly queue?: string
  readonly limit: number
  readonly kind?: RunKind
  readonly json?: boolean
}

export function listCommand(context: CliContext): Command {
  return new Command('list')
    .alias('ls')
    .description('List stored runs, newest first.')
    .option('--limit <n>', 'how many at most', count, 20)
    .addOption(new Option('--kind <kind>', 'only runs of this kind').choices([...runKinds]))
    .addOption(queueOption())
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (flags: ListFlags) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { listRuns } = await import('../../store/list-runs.ts')
      const store = openProjectStore(context)
      const { runs, total } = await listRuns(store, flags)
      const { stdout } = context
      if (flags.json === true)
        return stdout.write(`${JSON.stringify({ root: store.root, total, runs: runs.map(document) })}\n`)
      if (flags.queue !== undefined || (context.env.GANTRY_QUEUE ?? '') !== '') {
        const { queueLines } = await import('../../store/trial-queue/why-waiting.ts')
        const lines = await withQueue(flags, context, queueLines)
        stdout.write(`Queue:\n${lines.map((line) => `  ${plainLine(line)}\n`).join('')}\n`)
      }
      if (runs.length === 0)
        return stdout.write(`No ${flags.kind === undefined ? '' : `${flags.kind} `}runs in ${store.root}.\n`)
      const { textTable } = await import('../../report/text-table.ts')
      const width = stdout.isTTY ? stdout.columns : Infinity
      const table = textTable(columns(store.clock.now().getTime(), stdout.color), runs, width)
      for (const line of [table.heading, ...runs.map(table.line)]) stdout.write(`${line}\n`)
      if (total > runs.length) stdout.write(`${total - runs.length} older: --limit ${total} shows all.\n`)
    })
}

function columns(nowMs: number, color: boolean): Column<RunRow>[] {
  const { bold, dim } = pc.createColors(color)
  return [
    { title: 'RUN', text: (run) => plainLine(run.id), paint: bold },
    {
      title: 'WHEN',
      align: 'right',
      dropAt: 2,
      text: (run) => formatAge(nowMs - Date.parse(run.startedAt)),
      paint: dim,
    },
    { title: 'KIND', dropAt: 6, text: (run) => run.kind },
    { title: 'TITLE', shorten: 'end', dropAt: 1, text: (run) => plainLine(run.title) },
    {
      title: 'RESULT',
      text: ({ status, totals }) => formatRunResult(status, totals),
      paint: (text, run) => formatRunStatus(text, run.status, color),
    },
    { title: 'COST', align: 'right', dropAt: 4, text: ({ totals }) => formatRunCost(totals) },
    {
      title: 'TIME',
      align: 'right',
      dropAt: 5,
      text: ({ totals }) => (totals === null ? '-' : formatDuration(totals.duration_ms)),
    },
    { title: 'FLAGS', dropAt: 3, text: (run) => [...run.flags, ...(run.live ? ['live'] : [])].join(' ') },
  ]
}

function document(run: RunRow): Readonly<Record<string, unknown>> {
  return {
    run_id: run.id,
    run_dir: run.dir,
    kind: run.kind,
    title: run.title,
    status: run.status,
    live: run.live,
    timestamp_start: run.startedAt,
    timestamp_end: run.endedAt,
    totals: run.totals,
    flags: run.flags,
  }
}
