import { formatDuration } from '../core/duration.ts'
import type { RunSummary } from '../core/summary.ts'
import type { FinishedRun } from './contract.ts'
import { counted, formatCost, formatCount, formatPercent, formatRate } from './quantity.ts'

/** The run in one sentence, without its verdict. */
export function runSentence(summary: RunSummary): string {
  const { pass, fail, infra, invalid } = summary.counts
  switch (summary.verdict) {
    case 'pass':
      return `${counted(pass, 'counted trial')} passed, none failed.`
    case 'fail':
      return fail > 0
        ? `${formatCount(fail)} of ${counted(pass + fail, 'counted trial')} failed.`
        : `No trial failed, but there ${summary.regressions.length === 1 ? 'is' : 'are'} ${counted(summary.regressions.length, 'regression')}.`
    case 'infra':
      return `${counted(infra, 'trial')} did not really happen: too many to say anything about the agent.`
    case 'invalid':
      return `${counted(invalid, 'trial')} could not be judged because the case itself is broken.`
    case 'partial':
      return `${counted(summary.notRun, 'planned trial')} did not run.`
    case 'inconclusive':
      return `${counted(pass + fail, 'counted trial')} are too few to decide.`
  }
}

/** Totals as label and value, in reading order. One denominator: counted trials. What is not counted stands apart. */
export function totals(summary: RunSummary): readonly (readonly [label: string, value: string])[] {
  const { pass, fail } = summary.counts
  const apart = [
    summary.counts.infra > 0 ? `${formatCount(summary.counts.infra)} infra (the machinery broke)` : '',
    summary.counts.invalid > 0 ? `${formatCount(summary.counts.invalid)} invalid (the case is broken)` : '',
    summary.notRun > 0 ? `${formatCount(summary.notRun)} not run` : '',
  ].filter((part) => part !== '')
  const cases = new Set(summary.cases.filter((row) => row.passRate.n > 0).map((row) => row.case)).size
  return [
    [
      'Trials',
      `${formatCount(pass + fail)} counted: ${formatCount(pass)} passed, ${formatCount(fail)} failed`,
    ],
    ...row('Apart', apart.length > 0 ? `${apart.join(', ')}; in no rate` : null),
    [
      'Pass rate',
      summary.passRate.value === null
        ? 'nothing was counted'
        : `${formatRate(summary.passRate)}, mean of ${counted(cases, 'case')} with 95% interval`,
    ],
    ...row(
      'Flaky',
      summary.flakeRate === null
        ? null
        : `${formatPercent(summary.flakeRate)} of repeated cases both passed and failed`,
    ),
    ['Cost', costSentence(summary)],
    [
      'Time',
      formatDuration(summary.durationMs) +
        (summary.cached > 0 ? `, ${counted(summary.cached, 'trial')} from the cache` : ''),
    ],
    ...row(
      'Retries',
      summary.infraRetries > 0
        ? `${counted(summary.infraRetries, 'try', 'tries')} repeated because the machinery broke`
        : null,
    ),
  ]
}

/** What to do now. A face that knows better says so through `nextSteps`. */
export function nextSteps(run: FinishedRun): readonly string[] {
  if (run.nextSteps !== undefined) return run.nextSteps
  const { counts, notRun, verdict } = run.summary
  return [
    ...(counts.fail > 0 ? ['Run only what failed again: add --rerun-failed'] : []),
    ...(counts.invalid > 0 ? ['Repair the cases marked invalid; their reasons are above'] : []),
    ...(counts.infra > 0
      ? [`Go on with --resume ${run.runId} once what broke the infra trials is mended`]
      : []),
    ...(notRun > 0 && counts.infra === 0 ? [`Go on with --resume ${run.runId} to run what is left`] : []),
    ...(verdict === 'inconclusive' ? ['Add cases or repetitions; more cases help more'] : []),
  ]
}

function costSentence({ costUsd, unmeteredTrials }: RunSummary): string {
  if (costUsd === null) return 'unmetered: no trial reported a price'
  return (
    formatCost(costUsd) + (unmeteredTrials > 0 ? `, and ${counted(unmeteredTrials, 'trial')} unmetered` : '')
  )
}

function row(label: string, value: string | null): [string, string][] {
  return value === null ? [] : [[label, value]]
}
