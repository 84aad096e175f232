import pc from 'picocolors'
import { counted } from '../core/counted.ts'
import { formatDuration } from '../core/duration.ts'
import { estimateRun, type RunEstimate } from '../scenario/estimate.ts'
import type { PreparedRun } from '../scenario/prepare-run.ts'
import type { Store } from '../store/contract.ts'
import type { CliContext } from './context.ts'

/** `gantry test --plan`: what would run, what it would cost, and what it could find out. */
export async function printPlan(
  prepared: PreparedRun,
  store: Store,
  { json }: { readonly json: boolean },
  { stdout }: CliContext,
): Promise<void> {
  const estimate = await estimateRun(prepared, store)
  if (json) {
    stdout.write(`${JSON.stringify({ plan: estimate, trials: prepared.trials }, null, 2)}\n`)
    return
  }
  const { bold, dim, yellow } = pc.createColors(stdout.color)
  stdout.write(
    bold(`${counted(estimate.trials, 'trial')} of ${counted(estimate.cases, 'scenario')} would run\n\n`),
  )
  for (const group of estimate.groups) {
    const facts = [
      `${group.trials}×`,
      ...(group.cacheHits > 0 ? [`${group.cacheHits} cached`] : []),
      `≈${group.promptTokens} prompt tokens`,
      group.costUsd === null ? 'cost unknown' : `≈$${group.costUsd.toFixed(4)}`,
      group.durationMs === null ? 'time unknown' : `≈${formatDuration(group.durationMs)}`,
    ]
    stdout.write(`  ${group.case}  ${dim(`${group.agent} · ${group.model}`)}  ${facts.join(', ')}\n`)
  }
  stdout.write('\n')
  const row = (label: string, text: string): void => stdout.write(`${dim(label.padEnd(11))} ${text}\n`)
  row('cache', `${estimate.cacheHits} of ${estimate.trials} trials would be taken from it`)
  row('cost', costLine(estimate, prepared))
  row(
    'time',
    estimate.durationMs === null
      ? 'no earlier run to learn from'
      : `about ${formatDuration(estimate.durationMs)} of agent time${partly(estimate)}`,
  )
  if (estimate.judge !== null) row('judge', judgeLine(estimate.judge))
  if (estimate.precision !== null) row('precision', precisionLine(estimate.precision))
  const cap = prepared.request.maxCostUsd
  if (cap !== undefined && estimate.costUsd !== null && estimate.costUsd > cap) {
    stdout.write(
      yellow(`\nThe estimate is above --max-cost-usd ${cap}: the run would stop before its end.\n`),
    )
  }
}

function costLine(estimate: RunEstimate, { request }: PreparedRun): string {
  const cap = request.maxCostUsd === undefined ? '' : ` (cap $${request.maxCostUsd})`
  return estimate.costUsd === null
    ? `no earlier run to learn from${cap}`
    : `about $${estimate.costUsd.toFixed(4)}${partly(estimate)}${cap}`
}

function judgeLine({ model, calls, batched }: NonNullable<RunEstimate['judge']>): string {
  const how = batched ? ', in batches at half the price; a batch may take an hour' : ''
  return `at most ${counted(calls, 'call')} to ${model}${how}`
}

function partly({ withoutHistory }: RunEstimate): string {
  return withoutHistory === 0 ? '' : `, without ${withoutHistory} trials without history`
}

/** The whole scale or more is no precision at all. */
function precisionLine({ halfWidth, detectable }: NonNullable<RunEstimate['precision']>): string {
  if (halfWidth >= 1)
    return 'too few trials to compare two such runs; more scenarios help more than repetitions'
  return `±${points(halfWidth)} points on a difference between two such runs; differences under ${points(detectable)} points would probably not be seen`
}

function points(share: number): string {
  return String(Math.min(100, Math.round(share * 100)))
}
