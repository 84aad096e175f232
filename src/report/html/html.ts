import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { counted, formatCount } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import type { Rate, RunSummary } from '../../core/summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { sha256 } from '../../io/sha256.ts'
import { textBeside } from '../../io/text-beside.ts'
import { groupOf } from '../case-verdict.ts'
import type { FinishedRun, ReporterFactory, Sink } from '../contract.ts'
import { formatCost, formatInterval, formatPercent } from '../quantity.ts'
import { nextSteps, runEnding, runSentence } from '../run-sentence.ts'
import { agentName, trialLink } from '../trial-sentences.ts'
import { caseTable, intervalBar, matrix, sectionHtml, useTable } from './case-tables.ts'
import { escapeHtml } from './escape-html.ts'
import { transcript } from './transcript.ts'
import { trialHtml } from './trial.ts'

/** A page that browsers still open. */
const maxPackedChars = 200_000_000

/** A self-contained page: no requests, no server, no external script. */
export const htmlReporter: ReporterFactory = ({ sink, path }) => ({
  runEnded: (run) => writeHtml(run, sink, path),
})

export async function writeHtml(run: FinishedRun, sink: Sink, path?: string, maxPacked = maxPackedChars) {
  const flaky = new Set(run.summary.cases.filter((row) => row.flaky).map(groupOf))
  const hrefOf = path === undefined ? fileUrl : relativeUrl(trialLink(path))
  sink.write(pageStart(run.title))
  sink.write(
    `${overview(run)}\n${(run.sections ?? []).map(sectionHtml).join('\n')}\n${run.showCases === false ? '' : matrix(run.summary) + caseTable(run.summary)}\n${useTable(run.summary.cases)}\n${listStart(run, flaky.size > 0)}`,
  )
  let number = 0
  let room = maxPacked
  for await (const record of run.records()) {
    number += 1
    const href = hrefOf(record)
    const later = room > 0 ? pack(await laterHtml(run, record, href)) : null
    room -= later?.length ?? 0
    sink.write(
      trialHtml(record, {
        number,
        flaky: flaky.has(groupOf(record)),
        diagnosis: run.diagnose?.(record) ?? [],
        later,
        href: `${href}/`,
      }),
    )
    await sink.drain?.()
  }
  sink.write(`</div></section>\n${pageEnd}`)
}

/** The long parts of a trial, which a page of thousands of trials shows only when the trial is opened. */
async function laterHtml(run: FinishedRun, record: TrialRecord, href: string): Promise<string> {
  const diff = run.workspaceDiff?.(record) ?? null
  const changes = diff === null ? '' : `<section><h4>Changes in the workspace</h4>${diffHtml(diff)}</section>`
  return `${changes}<section><h4>Transcript</h4>${await transcriptHtml(run, record, href)}</section>`
}

async function transcriptHtml(run: FinishedRun, record: TrialRecord, href: string): Promise<string> {
  try {
    const { html, cut } = await transcript(run.events(record))
    if (html === '') return '<p class="dim">No transcript: nothing was recorded.</p>'
    const raw = `<a href="${escapeHtml(`${href}/events.jsonl`)}">events.jsonl</a>`
    const more = cut ? `<p class="dim cut">The transcript continues in ${raw}</p>` : ''
    return `<ol class="transcript">${html}</ol>${more}`
  } catch (error) {
    return `<p class="problem">The events could not be read: ${escapeHtml(String(error))}</p>`
  }
}

/** A unified diff with a colour per line. */
function diffHtml(diff: string): string {
  const lines = escapeHtml(diff.trimEnd())
    .split('\n')
    .map((line) => {
      if (/^(?:\+\+\+|---) /.test(line)) return `<b>${line}</b>`
      if (line.startsWith('+')) return `<ins>${line}</ins>`
      return line.startsWith('-') ? `<del>${line}</del>` : line
    })
  return `<pre class="diff">${lines.join('\n')}</pre>`
}

/** The script of the page unpacks it. */
function pack(html: string): string {
  return gzipSync(html).toString('base64')
}

function listStart(run: FinishedRun, anyFlaky: boolean): string {
  const { counts } = run.summary
  const choices: [key: string, label: string, count: number | null][] = [
    ['all', 'All', null],
    ['fail', 'Failed', counts.fail],
    ...(anyFlaky ? [['flaky', 'Flaky', null] as [string, string, null]] : []),
    ['infra', 'Infra', counts.infra],
    ...(counts.invalid > 0 ? [['invalid', 'Invalid', counts.invalid] as [string, string, number]] : []),
  ]
  const buttons = choices.map(
    ([key, label, count]) =>
      `<button type="button" data-filter="${key}" aria-pressed="${key === 'all'}">${label}${count === null ? '' : ` <span>${formatCount(count)}</span>`}</button>`,
  )
  return `<section class="trials"><h2>Trials</h2>
<div class="filters"><div role="group" aria-label="Show">${buttons.join('')}</div>
<label><span class="hidden">Search</span><input type="search" id="search" placeholder="Search  ( / )" autocomplete="off" spellcheck="false"></label>
<label><span class="hidden">Agent</span><select id="agent" hidden><option value="">Every agent</option></select></label>
<label><span class="hidden">Tag</span><select id="tag" hidden><option value="">Every tag</option></select></label>
<label><span class="hidden">Order</span><select id="order"><option value="plan">In order of the plan</option><option value="time">Slowest first</option><option value="cost">Most expensive first</option><option value="case">By case</option><option value="agent">By agent</option></select></label>
<button type="button" id="unfold">Open all</button><p id="status" role="status"></p></div>
<div id="list">
`
}

function relativeUrl(link: (record: TrialRecord) => string): (record: TrialRecord) => string {
  return (record) => {
    const parts = link(record).split('/')
    return parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/')
  }
}

function fileUrl({ dir }: TrialRecord): string {
  return pathToFileURL(dir).href
}

/** Filters, search, order, unfolding, and the parts that are unpacked when a trial is opened. Results are shown without it too. */
const script = textBeside(import.meta.url, './page.js')
/** Light and dark by the reader's setting; one column that also works on narrow screens. */
const style = textBeside(import.meta.url, './page.css')

/** The page may use only its own script and style, and loads nothing. */
const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`

export function pageStart(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)} – Gantry</title>
<style>${style}</style>
</head>
<body>
<main>
`
}

const pageEnd = `</main>
<script>${script}</script>
</body>
</html>
`

function hashOf(text: string): string {
  return `sha256-${Buffer.from(sha256(text), 'hex').toString('base64')}`
}

/** The top of the page: verdict, figures, the bar of verdicts, regressions, next steps. */
function overview(run: FinishedRun): string {
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
  const { passRate, agents = [] } = summary
  const rates: readonly (readonly [string, Rate])[] =
    agents.length < 2
      ? [['Pass rate', passRate]]
      : agents.map((each) => [`Pass rate of ${agentName(each)}`, each.passRate])
  return [
    ...rates.map(([label, rate]) =>
      figure(
        label,
        rate.value === null ? '–' : formatPercent(rate.value),
        rate.value === null ? 'nothing was counted' : `95% interval ${formatInterval(rate)}`,
        intervalBar(rate),
      ),
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
  return `<div class="figure"><p class="label">${escapeHtml(label)}</p><p class="value">${escapeHtml(value)}</p><p class="note">${escapeHtml(note)}</p>${extra}</div>`
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
