import pc from 'picocolors'
import { counted, formatCount } from '../core/counted.ts'
import { formatDuration } from '../core/duration.ts'
import { formatCost } from '../report/quantity.ts'
import { type Column, textTable } from '../report/text-table.ts'
import { estimateRun, type GroupEstimate, type RunEstimate } from '../scenario/estimate.ts'
import { type PreparedRun, refuseMissingCassettes } from '../scenario/prepare-run.ts'
import type { Store } from '../store/contract.ts'
import type { CliContext } from './context.ts'

export async function printPlan(
  prepared: PreparedRun,
  store: Store,
  { json }: { readonly json: boolean },
  { stdout }: CliContext,
): Promise<void> {
  refuseMissingCassettes(prepared)
  const estimate = await estimateRun(prepared, store)
  if (json) return stdout.write(`${JSON.stringify({ plan: estimate, trials: prepared.trials }, null, 2)}\n`)
  const { bold, dim, yellow } = pc.createColors(stdout.color)
  const most = prepared.request.untilDecided ? 'at most ' : ''
  const scenarios = counted(estimate.cases, 'scenario')
  stdout.write(bold(`${most}${counted(estimate.trials, 'trial')} of ${scenarios} would run\n\n`))
  const rows: readonly GroupEstimate[] = [
    ...estimate.groups,
    { ...estimate, case: 'total', agent: '', model: '' },
  ]
  const table = textTable(columns, rows, (stdout.isTTY ? stdout.columns : 140) - 2)
  stdout.write(`${dim(`  ${table.heading}`)}\n`)
  for (const each of rows) stdout.write(`  ${table.line(each)}\n`)
  stdout.write('\n')
  const row = (label: string, text: string): void => stdout.write(`${dim(label.padEnd(11))} ${text}\n`)
  row('cache', `${estimate.cacheHits} of ${estimate.trials} trials would be taken from it`)
  row('cost', costLine(estimate, prepared))
  row(
    'time',
    estimate.durationMs === null
      ? 'unknown: no earlier run'
      : `about ${formatDuration(estimate.durationMs)} of agent time${partly(estimate)}`,
  )
  if (estimate.judge !== null && estimate.judge.calls > 0) row('judge', judgeLine(estimate.judge))
  if (estimate.pairs !== null) row('pairs', pairsLine(estimate.pairs, estimate.judge?.model ?? ''))
  if (estimate.precision !== null)
    row('precision', precisionLine(estimate.precision, prepared.request.arms.length))
  const cap = prepared.request.maxCostUsd
  if (cap !== undefined && estimate.costUsd !== null && estimate.costUsd > cap) {
    stdout.write(
      yellow(`\nThe estimate is above --max-cost-usd ${cap}: the run would stop before its end.\n`),
    )
  }
}

const columns: readonly Column<GroupEstimate>[] = [
  { title: 'scenario', text: (row) => row.case, shorten: 'middle', minWidth: 20 },
  { title: 'agent', text: ({ agent }) => agent, shorten: 'middle' },
  { title: 'model', text: ({ model }) => model, shorten: 'middle', dropAt: 1 },
  { title: 'trials', text: ({ trials }) => formatCount(trials), align: 'right' },
  { title: 'cached', text: ({ cacheHits }) => formatCount(cacheHits), align: 'right', dropAt: 2 },
  { title: 'prompt tokens', text: (row) => formatCount(row.promptTokens), align: 'right', dropAt: 3 },
  {
    title: 'cost',
    text: (row) => (row.costUsd === null ? 'unknown' : formatCost(row.costUsd)),
    align: 'right',
  },
  {
    title: 'time',
    text: ({ durationMs }) => (durationMs === null ? 'unknown' : formatDuration(durationMs)),
    align: 'right',
    dropAt: 1,
  },
]

function costLine(estimate: RunEstimate, { request }: PreparedRun): string {
  const cap = request.maxCostUsd === undefined ? '' : ` (cap $${request.maxCostUsd})`
  if (request.replay === 'strict') return `the agents cost nothing: their answers are recorded${cap}`
  return estimate.costUsd === null
    ? `unknown: no earlier run${cap}`
    : `about ${formatCost(estimate.costUsd)}${partly(estimate)}${cap}`
}

function judgeLine({ model, calls, batched }: NonNullable<RunEstimate['judge']>): string {
  const how = batched ? ', in batches at half the price; a batch may take an hour' : ''
  return `at most ${counted(calls, 'call')} to ${model}${how}`
}

function pairsLine({ calls, atMostUsd }: NonNullable<RunEstimate['pairs']>, model: string): string {
  const cost = atMostUsd === null ? 'of unknown cost' : `for at most ${formatCost(atMostUsd)}`
  return `at most ${counted(calls, 'call')} to ${model} that compare two answers, ${cost}`
}

function partly({ withoutHistory }: RunEstimate): string {
  return withoutHistory === 0 ? '' : ` (${counted(withoutHistory, 'trial')} without history not included)`
}

/** A plan that could only see all against nothing is useless. */
function precisionLine(
  { halfWidth, detectable }: NonNullable<RunEstimate['precision']>,
  arms: number,
): string {
  const sides = arms > 1 ? 'two arms' : 'two such runs'
  if (detectable > 0.995)
    return `too few trials to compare ${sides}; more scenarios help more than repetitions`
  const stricter = arms > 2 ? `; each comparison of ${arms} arms is stricter and finds less` : ''
  return `±${points(halfWidth)} points on a difference between ${sides}, paired by case; a difference of ${points(detectable)} points would be found in 80 of 100 such comparisons${stricter}`
}

function points(share: number): string {
  return String(Math.min(100, Math.round(share * 100)))
}
