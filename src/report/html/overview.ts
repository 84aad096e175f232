import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { RunSummary } from '../../core/summary.ts'
import type { FinishedRun } from '../contract.ts'
import { formatCost, formatInterval, formatPercent } from '../quantity.ts'
import { nextSteps, runEnding, runSentence } from '../run-sentence.ts'
import { agentName } from '../trial-sentences.ts'
import { intervalBar } from './case-tables.ts'
import { escapeHtml } from './escape-html.ts'

/** The top of the page: verdict, figures, the bar of verdicts, regressions, next steps. */
export function overview(run: FinishedRun): string {
  const { summary } = run
  const ending = runEnding(run)
  return [
    `<header class="top ${ending}">`,
    `<p class="badge">${ending}</p>`,
    `<h1>${escapeHtml(run.title)}</h1>`,
    `<p class="sentence">${escapeHtml(runSentence(run))}</p>`,
    `<p class="meta">${escapeHtml(run.runId)} · <time datetime="${escapeHtml(run.startedAt)}">${escapeHtml(readableTime(run.startedAt))}</time> · Gantry ${escapeHtml(run.version)}</p>`,
    '</header>',
    `<section class="figures" aria-label="Totals">${figures(summary).join('')}</section>`,
    verdictBar(summary),
    regressions(summary),
    steps(run),
  ].join('\n')
}

function figures(summary: RunSummary): string[] {
  const { pass, fail } = summary.counts
  const { passRate } = summary
  return [
    figure(
      'Pass rate',
      passRate.value === null ? '–' : formatPercent(passRate.value),
      passRate.value === null ? 'nothing was counted' : `95% interval ${formatInterval(passRate)}`,
      intervalBar(passRate),
    ),
    figure(
      'Counted trials',
      formatCount(pass + fail),
      `${formatCount(pass)} passed, ${formatCount(fail)} failed`,
    ),
    figure(
      'Cost',
      formatCost(summary.costUsd),
      summary.unmeteredTrials > 0
        ? `${counted(summary.unmeteredTrials, 'trial')} unmetered`
        : 'all trials metered',
    ),
    figure(
      'Time',
      formatDuration(summary.durationMs),
      summary.cached > 0 ? `${formatCount(summary.cached)} from the cache` : 'nothing from the cache',
    ),
    ...(summary.flakeRate === null
      ? []
      : [figure('Flaky', formatPercent(summary.flakeRate), 'of repeated cases')]),
  ]
}

function figure(label: string, value: string, note: string, extra = ''): string {
  return `<div class="figure"><p class="label">${label}</p><p class="value">${escapeHtml(value)}</p><p class="note">${escapeHtml(note)}</p>${extra}</div>`
}

function verdictBar({ counts, notRun }: RunSummary): string {
  const parts = [
    ['pass', counts.pass, 'passed'],
    ['fail', counts.fail, 'failed'],
    ['infra', counts.infra, 'infra: infrastructure failed'],
    ['invalid', counts.invalid, 'invalid: the case is broken'],
    ['notrun', notRun, 'not run'],
  ] as const
  const total = parts.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return ''
  let from = 0
  const rects = parts.map(([name, count]) => {
    const width = (count / total) * 100
    const rect =
      count === 0
        ? ''
        : `<rect class="${name}" x="${from.toFixed(3)}%" y="0" width="${width.toFixed(3)}%" height="100%"/>`
    from += width
    return rect
  })
  const legend = parts
    .filter(([, count]) => count > 0)
    .map(
      ([name, count, text]) =>
        `<li><span class="dot ${name}"></span><b>${formatCount(count)}</b> ${text}</li>`,
    )
  return `<section class="verdicts"><svg class="verdict-bar" aria-hidden="true">${rects.join('')}</svg><ul>${legend.join('')}</ul></section>`
}

function regressions({ regressions: found }: RunSummary): string {
  if (found.length === 0) return ''
  const items = found.map(
    (one) =>
      `<li class="${one.severity}"><b>${escapeHtml(one.case)}</b> <span class="dim">${escapeHtml(agentName(one))}</span><br>${escapeHtml(one.message)}</li>`,
  )
  return `<section class="regressions"><h2>Regressions</h2><ul>${items.join('')}</ul></section>`
}

function steps(run: FinishedRun): string {
  const items = nextSteps(run).map((step) => `<li>${escapeHtml(step)}</li>`)
  return `<section class="next"><ul>${items.join('')}<li>Files: <code>${escapeHtml(run.runDir)}</code></li></ul></section>`
}

function readableTime(iso: string): string {
  return iso.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')
}
