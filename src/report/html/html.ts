import { pathToFileURL } from 'node:url'
import { formatCount } from '../../core/counted.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { sha256 } from '../../io/sha256.ts'
import type { FinishedRun, ReporterFactory, Sink } from '../contract.ts'
import { trialLink } from '../trial-text.ts'
import { caseTable, sectionHtml, useTable } from './case-tables.ts'
import { escapeHtml } from './escape-html.ts'
import { overview } from './overview.ts'
import { script } from './script.ts'
import { style } from './style.ts'
import { transcript } from './transcript.ts'
import { trialHtml } from './trial.ts'

/** In larger runs only trials that did not pass get their transcript. */
const maxFullTrials = 60
/** What a browser opens without pain. */
const maxTranscriptChars = 24_000_000

/** A self-contained page: no requests, no server, no external script. */
export const htmlReporter: ReporterFactory = ({ sink, path }) => ({
  runEnded: (run) => writeHtml(run, sink, path),
})

async function writeHtml(run: FinishedRun, sink: Sink, path: string | undefined): Promise<void> {
  const flaky = new Set(run.summary.cases.filter((row) => row.flaky).map(identity))
  const hrefOf = path === undefined ? fileUrl : relativeUrl(trialLink(path))
  const every = run.trials <= maxFullTrials
  sink.write(pageStart(run.title))
  sink.write(
    `${overview(run)}\n${(run.sections ?? []).map(sectionHtml).join('\n')}\n${run.showCases === false ? '' : caseTable(run.summary)}\n${useTable(run.summary.cases)}\n${listStart(run, flaky.size > 0, every)}`,
  )
  let number = 0
  let room = maxTranscriptChars
  for await (const record of run.records()) {
    number += 1
    const href = hrefOf(record)
    const shown = await transcriptHtml(run, record, { every, room, href })
    room -= shown.length
    sink.write(
      trialHtml(record, {
        number,
        flaky: flaky.has(identity(record)),
        diagnosis: run.diagnose?.(record) ?? [],
        transcript: shown,
        href: `${href}/`,
      }),
    )
    await sink.drain?.()
  }
  sink.write(`</div></section>\n${pageEnd}`)
}

async function transcriptHtml(
  run: FinishedRun,
  record: TrialRecord,
  { every, room, href }: { readonly every: boolean; readonly room: number; readonly href: string },
): Promise<string> {
  const raw = `<a href="${escapeHtml(`${href}/events.jsonl`)}">events.jsonl</a>`
  if (record.verdict === 'pass' && !every)
    return `<p class="dim">Not on this page, because the trial passed. All of it: ${raw}</p>`
  if (room <= 0)
    return `<p class="dim">Not on this page, because the page would become too large. All of it: ${raw}</p>`
  try {
    const { html, cut } = await transcript(run.events(record))
    if (html === '') return '<p class="dim">No transcript: nothing was recorded.</p>'
    const more = cut ? `<p class="dim cut">The transcript goes on in ${raw}</p>` : ''
    return `<ol class="transcript">${html}</ol>${more}`
  } catch (error) {
    return `<p class="problem">The events could not be read: ${escapeHtml(String(error))}</p>`
  }
}

function listStart(run: FinishedRun, anyFlaky: boolean, every: boolean): string {
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
  const note = every
    ? ''
    : `<p class="dim">This run has more than ${maxFullTrials} trials: only those that did not pass have their transcript on this page.</p>`
  return `<section class="trials"><h2>Trials</h2>
<div class="filters"><div role="group" aria-label="Show">${buttons.join('')}</div>
<label><span class="hidden">Search</span><input type="search" id="search" placeholder="Search  ( / )" autocomplete="off" spellcheck="false"></label>
<button type="button" id="unfold">Open all</button><p id="status" role="status"></p></div>
${note}<div id="list">
`
}

function identity({ case: name, agent, model }: Pick<TrialRecord, 'case' | 'agent' | 'model'>): string {
  return JSON.stringify([name, agent, model])
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

/** The page may use only its own script and style, and may not load anything. */
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
