import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { GateResult, JudgeResult, TrialRecord } from '../../core/trial.ts'
import { detailParts, omission, splitReason } from '../failure-lines.ts'
import { formatCost, formatPercent, formatScore } from '../quantity.ts'
import {
  agentName,
  judgeSentence,
  trialEndingSentence,
  trialMetricsSentence,
  verdictMark,
} from '../trial-sentences.ts'
import { escapeHtml, longText } from './escape-html.ts'

export interface TrialView {
  readonly number: number
  readonly flaky: boolean
  readonly diagnosis: readonly string[]
  /** Transcript and changes as HTML, packed; null when the page has no room for them. */
  readonly later: string | null
  /** Link to the trial's directory. */
  readonly href: string
}

/** One trial, folded: a line with its result, and all details inside. */
export function trialHtml(record: TrialRecord, view: TrialView): string {
  const reason = splitReason(record.reason)
  const groups = [record.verdict, ...(view.flaky ? ['flaky'] : [])].join(' ')
  const text = [record.case, record.agent, record.model, record.reason, record.file, ...record.tags].join(' ')
  return [
    `<details class="trial ${record.verdict}" id="trial-${view.number}" data-groups="${groups}" data-agent="${escapeHtml(agentName(record))}" data-tags="${escapeHtml(JSON.stringify(record.tags))}" data-time="${Math.round(record.durationMs)}" data-cost="${record.costUsd ?? -1}" data-case-name="${escapeHtml(record.case)}" data-text="${escapeHtml(text.slice(0, 2_000).toLowerCase())}">`,
    `<summary>${headline(record, view)}</summary><div class="body">`,
    `<p class="reason">${escapeHtml(reason.sentence)}</p>`,
    reason.lines.length === 0 ? '' : `<pre>${escapeHtml(reason.lines.join('\n'))}</pre>`,
    facts(record, view),
    gates(record.gates),
    record.judge === null ? '' : judge(record, record.judge),
    evaluators(record),
    record.prompt === undefined ? '' : `<section><h4>Prompt</h4>${longText(record.prompt)}</section>`,
    later(view),
    `<p class="files">Files: <a href="${escapeHtml(view.href)}">${escapeHtml(record.dir)}</a></p>`,
    '</div></details>\n',
  ].join('\n')
}

function later({ later: packed, href }: TrialView): string {
  const raw = `<a href="${escapeHtml(`${href}events.jsonl`)}">events.jsonl</a>`
  if (packed === null)
    return `<p class="dim">The transcript is not on this page, because the page would become too large. It is in ${raw}</p>`
  return `<div class="later"><p class="dim">The transcript is in ${raw}</p></div><template class="packed">${packed}</template>`
}

function headline(record: TrialRecord, { flaky }: TrialView): string {
  const chips = [
    ...(flaky ? ['<span class="chip flaky">flaky</span>'] : []),
    ...(record.cachedFrom === null ? [] : ['<span class="chip">cached</span>']),
    ...(record.score === null ? [] : [`<span class="chip">score ${formatScore(record.score)}</span>`]),
    ...(record.costUsd === null ? [] : [`<span class="chip">${formatCost(record.costUsd)}</span>`]),
    `<span class="chip">${formatDuration(record.durationMs)}</span>`,
  ]
  const attempt = record.attempt > 1 ? ` <span class="attempt">#${record.attempt}</span>` : ''
  return (
    `<span class="mark ${record.verdict}" role="img" aria-label="${record.verdict}">${verdictMark(record.verdict)}</span>` +
    `<span class="name"><b>${escapeHtml(record.case)}</b>${attempt} <span class="dim">${escapeHtml(agentName(record))}</span></span>` +
    `<span class="chips">${chips.join('')}</span>`
  )
}

function facts(record: TrialRecord, { diagnosis }: TrialView): string {
  const { metrics, tokens } = record
  const rows: [string, string | null][] = [
    ['Agent', trialEndingSentence(record)],
    ['Use of the tool', trialMetricsSentence(record)],
    ['Subcommands', subcommands(record)],
    [
      'Iteration ratio',
      metrics.source === 'none' || metrics.total_commands === 0 ? null : metrics.iteration_ratio.toFixed(2),
    ],
    [
      'Composite score',
      record.score === null
        ? null
        : `${formatScore(record.score)}${record.tier === null ? '' : `, ${record.tier}`}`,
    ],
    ['Cost', formatCost(record.costUsd)],
    [
      'Tokens',
      tokens === null
        ? null
        : `${formatCount(tokens.input)} in, ${formatCount(tokens.output)} out, ${formatCount(tokens.cacheRead)} from the cache`,
    ],
    ['Case file', record.file === '' ? null : record.file],
    ['Tags', record.tags.length === 0 ? null : record.tags.join(', ')],
    ['Taken from', record.cachedFrom],
    ['Infra retries', record.infraRetries === 0 ? null : String(record.infraRetries)],
    ...diagnosis.map((sentence): [string, string] => [
      record.verdict === 'pass' ? 'Assessment' : 'Likely cause',
      sentence,
    ]),
    ...record.warnings.map((warning): [string, string] => ['Warning', warning]),
  ]
  const shown = rows.flatMap(([label, value]) =>
    value === null ? [] : [`<dt>${label}</dt><dd>${escapeHtml(value)}</dd>`],
  )
  return `<dl class="facts">${shown.join('')}</dl>`
}

function subcommands({ metrics }: TrialRecord): string | null {
  const entries = Object.entries(metrics.subcommands)
  if (entries.length === 0) return null
  return entries
    .map(([name, use]) => `${name} ${use.total}${use.errors > 0 ? ` (${use.errors} failed)` : ''}`)
    .join(', ')
}

function gates(results: readonly GateResult[]): string {
  if (results.length === 0) return ''
  const passed = results.filter((gate) => gate.passed).length
  const items = results.map((gate) => {
    const name = `<span class="mark ${gate.passed ? 'pass' : 'fail'}" role="img" aria-label="${gate.passed ? 'passed' : 'failed'}">${gate.passed ? '✓' : '✗'}</span><code>${escapeHtml(gate.type)}</code> ${escapeHtml(gate.message)}`
    return `<li>${name}${details(gate)}</li>`
  })
  return `<section><h4>Gates <span class="dim">${passed} of ${results.length} passed</span></h4><ul class="gates">${items.join('')}</ul></section>`
}

function details(gate: GateResult): string {
  const parts = detailParts(gate.detail, {
    maxLines: 60,
    maxChars: 2_000,
    message: gate.message,
  }).map((part) => {
    const shown = part.kind === 'value' ? escapeHtml(part.lines.join(' ')) : longText(part.lines.join('\n'))
    return `<dt>${escapeHtml(part.label)}${omission(part)}</dt><dd>${shown}</dd>`
  })
  if (parts.length === 0) return ''
  const list = `<dl class="facts">${parts.join('')}</dl>`
  return gate.passed
    ? `<details class="long"><summary><span class="size">details</span></summary>${list}</details>`
    : list
}

function judge(record: TrialRecord, result: JudgeResult): string {
  const scores = Object.entries(result.scores).map(
    ([criterion, score]) =>
      `<li><span>${escapeHtml(criterion)}</span><svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="6" rx="3"/><rect class="fill" width="${(Math.min(1, Math.max(0, score)) * 100).toFixed(1)}" height="6" rx="3"/></svg><b>${formatScore(score)}</b></li>`,
  )
  const failed = result.samples.flatMap((sample) => (sample.kind === 'error' ? [sample.message] : []))
  return `<section><h4>Judge <span class="dim">${escapeHtml(judgeSentence(record) ?? '')}</span></h4>${[
    scores.length === 0 ? '' : `<ul class="scores">${scores.join('')}</ul>`,
    bullets('Issues', result.issues),
    bullets('Highlights', result.highlights),
    bullets(
      'Quotes',
      (result.quotes ?? []).map(({ criterion, text }) => `${criterion}: ${text}`),
    ),
    bullets('Samples without an answer', failed),
    `<p class="dim">Confidence ${formatPercent(result.confidence)}, ${counted(result.samples.length, 'sample')}, ${formatCost(result.costUsd)}</p>`,
  ].join('')}</section>`
}

function evaluators({ evaluators: results }: TrialRecord): string {
  if (results.length === 0) return ''
  const items = results.map(({ name, score, summary, error, metrics }) =>
    [
      `<li><b>${escapeHtml(name)}</b>`,
      score === undefined ? '' : ` <span class="chip">score ${formatScore(score)}</span>`,
      summary === undefined ? '' : `<p>${escapeHtml(summary)}</p>`,
      error === undefined ? '' : `<p class="problem">${escapeHtml(error)}</p>`,
      metrics === undefined || Object.keys(metrics).length === 0
        ? ''
        : longText(JSON.stringify(metrics, null, 2)),
      '</li>',
    ].join(''),
  )
  return `<section><h4>Evaluators</h4><ul class="evaluators">${items.join('')}</ul></section>`
}

function bullets(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return ''
  return `<h5>${title}</h5><ul>${lines.map((line) => `<li>${escapeHtml(line)}</li>`).join('')}</ul>`
}
