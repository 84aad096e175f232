import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { shorten } from '../../core/shorten.ts'
import type { CaseSummary, RunSummary } from '../../core/summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { caseMatrix } from '../case-matrix.ts'
import { casesWithUse, caseVerdict, passedAlways, shownK, useFigures, useLegend } from '../case-verdict.ts'
import type { FinishedRun, ReporterFactory, ReportSection } from '../contract.ts'
import { splitReason } from '../failure-lines.ts'
import { formatCost, formatInterval, formatPercent, formatScore, percentAt } from '../quantity.ts'
import { nextSteps, runEnding, runSentence, totals } from '../run-sentence.ts'
import {
  agentName,
  judgeSentence,
  trialEndingSentence,
  trialLink,
  trialMetricsSentence,
  trialName,
} from '../trial-sentences.ts'
import { codeBlock, escapeMarkdown, fileLink, gateDetails, markdownTable } from './escape-markdown.ts'

export const mdReporter: ReporterFactory = ({ sink, path }) => ({
  async runEnded(run) {
    const linkOf = path === undefined ? {} : { linkOf: trialLink(path) }
    for await (const piece of runMarkdown(run, { maxCases: 2_000, ...linkOf })) {
      sink.write(piece)
      await sink.drain?.()
    }
  },
})

const maxWarnings = 100
const maxDiffChars = 20_000

interface RunMarkdownOptions {
  /** Rows of the table of cases; cases that did not always pass come first. */
  readonly maxCases: number
  /** A path to the trial's directory that works as a link, or null when there is none. */
  readonly linkOf?: (record: TrialRecord) => string | null
}

/** The run as Markdown, a piece at a time: verdict, totals, cases, then everything that did not pass. */
export async function* runMarkdown(run: FinishedRun, options: RunMarkdownOptions): AsyncGenerator<string> {
  const { summary } = run
  const ending = runEnding(run)
  yield `# ${icons[ending]} ${ending.toUpperCase()}: ${escapeMarkdown(run.title)}\n\n`
  yield `${escapeMarkdown(runSentence(run))}\n\n`
  yield `${markdownTable(['', ''], [...totals(summary), ['Run', run.runId]])}\n\n`
  if (summary.regressions.length > 0)
    yield `## Regressions\n\n${summary.regressions
      .map(
        (found) =>
          `- **${found.severity}** ${escapeMarkdown(`${found.case} (${agentName(found)})`)}: ${escapeMarkdown(found.message)}`,
      )
      .join('\n')}\n\n`
  for (const section of run.sections ?? []) yield sectionMarkdown(section)
  if (summary.cases.length > 0 && run.showCases !== false)
    yield `${caseMatrix(summary).map(sectionMarkdown).join('')}${caseTable(summary, options.maxCases)}\n\n`
  yield useTable(summary.cases, options.maxCases)
  const warnings: string[] = []
  const prompts = new Map<string, string>()
  let heading = '## What did not pass\n\n'
  for await (const record of run.records()) {
    if (record.prompt !== undefined && prompts.size < options.maxCases)
      prompts.set(record.case, shorten(record.prompt, maxPromptChars))
    if (record.verdict === 'pass') {
      for (const warning of record.warnings.slice(0, maxWarnings - warnings.length))
        warnings.push(`- ${escapeMarkdown(`${trialName(record)}: ${warning}`)}`)
      continue
    }
    yield heading + failure(record, run, options)
    heading = ''
  }
  if (warnings.length > 0) yield `## Warnings of passed trials\n\n${warnings.join('\n')}\n\n`
  if (prompts.size > 0) yield `${promptList(prompts)}\n\n`
  const steps = nextSteps(run)
  if (steps.length > 0) yield `## Next\n\n${steps.map((step) => `- ${escapeMarkdown(step)}`).join('\n')}\n\n`
  yield `Made by Gantry ${escapeMarkdown(run.version)}. Files: ${escapeMarkdown(run.runDir)}\n`
}

function failure(record: TrialRecord, run: FinishedRun, { linkOf }: RunMarkdownOptions): string {
  const facts = [
    ...fact('Agent', trialEndingSentence(record)),
    ...fact('Judge', judgeSentence(record)),
    ...(record.judge?.passed === false ? record.judge.issues : []).map(
      (issue) => `- Issue: ${escapeMarkdown(issue)}`,
    ),
    ...fact('Use of the tool', trialMetricsSentence(record)),
    ...(run.diagnose?.(record) ?? []).map((sentence) => `- Likely cause: ${escapeMarkdown(sentence)}`),
    ...record.warnings.map((warning) => `- Warning: ${escapeMarkdown(warning)}`),
  ]
  const reason = splitReason(record.reason)
  const link = linkOf?.(record) ?? null
  const gates = record.gates.filter((gate) => !gate.passed)
  const rows = gates.map((gate) => [gate.type, gate.message])
  const blocks = [
    `### ${trialIcons[record.verdict]} ${escapeMarkdown(trialName(record))}`,
    `**${record.verdict}**: ${escapeMarkdown(reason.sentence)}`,
    ...(reason.lines.length === 0 ? [] : [codeBlock(reason.lines.join('\n'))]),
    ...(gates.length === 0 ? [] : [markdownTable(['Failed gate', 'Message'], rows)]),
    ...gates.flatMap(gateDetails),
    ...(facts.length === 0 ? [] : [facts.join('\n')]),
    ...folded('Prompt', record.prompt ?? null),
    ...folded('Changes in the workspace', run.workspaceDiff?.(record) ?? null, 'diff'),
    `Files: ${link === null ? escapeMarkdown(record.dir) : fileLink(record.id, link)}`,
  ]
  return `${blocks.join('\n\n')}\n\n`
}

function promptList(prompts: ReadonlyMap<string, string>): string {
  const items = [...prompts].map(
    ([name, prompt]) => `- **${escapeMarkdown(name)}**: ${escapeMarkdown(prompt)}`,
  )
  return `<details><summary>Prompts</summary>\n\n${items.join('\n')}\n\n</details>`
}

const maxPromptChars = 300

/** Long text that a reader opens; it is shortened, because a summary on GitHub has a limit. */
function folded(title: string, text: string | null, language?: string): string[] {
  if (text === null || text.trim() === '') return []
  const block = codeBlock(shorten(text.trimEnd(), maxDiffChars, '\n…'), language)
  return [`<details><summary>${title}</summary>\n\n${block}\n\n</details>`]
}

function fact(label: string, sentence: string | null): string[] {
  return sentence === null ? [] : [`- ${escapeMarkdown(label)}: ${escapeMarkdown(sentence)}`]
}

const trialIcons = { pass: '✅', fail: '❌', infra: '⚠️', invalid: '❓' } as const
const icons = { ...trialIcons, partial: '⏸️', inconclusive: '❔', interrupted: '⏸️' } as const

/** A table of one face, with the blank line after it. */
export function sectionMarkdown({ title, lead, columns, rows }: ReportSection): string {
  const titles = columns.map((column) => column.title)
  const parts = [
    `## ${escapeMarkdown(title)}`,
    ...(lead === undefined ? [] : [escapeMarkdown(lead)]),
    ...(rows.length === 0 ? [] : [markdownTable(titles, rows)]),
  ]
  return `${parts.join('\n\n')}\n\n`
}

/** Case by agent by model; cases that did not always pass come first. */
function caseTable({ cases, threshold }: RunSummary, maxRows: number): string {
  const k = shownK(cases)
  const ordered = inOrder(cases)
  const shown = ordered.slice(0, maxRows)
  const head = [
    '',
    'Case',
    'Agent',
    'Passed',
    'Rate',
    '95% interval',
    ...(k > 1 ? [`pass@${k}`, `pass^${k}`] : []),
    'Score',
    'Cost',
    'Time',
  ]
  const rows = shown.map((row) => [
    caseIcons[caseVerdict(row, threshold)],
    row.case + (row.flaky ? ' (flaky)' : ''),
    agentName(row),
    `${row.counts.pass}/${row.passRate.n}`,
    row.passRate.value === null ? '–' : formatPercent(row.passRate.value),
    row.passRate.value === null ? '–' : formatInterval(row.passRate),
    ...(k > 1 ? [percentAt(row.passAtK, k) ?? '–', percentAt(row.passHatK, k) ?? '–'] : []),
    row.meanScore === null ? '–' : formatScore(row.meanScore),
    row.passRate.n === 0 ? '–' : formatCost(row.meanCostUsd),
    row.passRate.n === 0 ? '–' : formatDuration(row.meanDurationMs),
  ])
  return `## Cases\n\n${markdownTable(head, rows)}${rest(ordered.length - shown.length)}`
}

/** How the tool was used, followed by an empty line; empty when no agent was seen using it. */
function useTable(cases: readonly CaseSummary[], maxRows: number): string {
  const ordered = inOrder(casesWithUse(cases))
  if (ordered.length === 0) return ''
  const shown = ordered.slice(0, maxRows)
  const head = ['Case', 'Agent', ...useFigures.map(({ title }) => capitalized(title))]
  const rows = shown.map((row) => [
    row.case,
    agentName(row),
    ...useFigures.map(({ text }) => text(row) ?? '–'),
  ])
  return `## Use of the tool\n\n${markdownTable(head, rows)}${rest(ordered.length - shown.length)}\n\n${useLegend()}\n\n`
}

function inOrder(cases: readonly CaseSummary[]): readonly CaseSummary[] {
  return [...cases.filter((row) => !passedAlways(row)), ...cases.filter(passedAlways)]
}

function rest(hidden: number): string {
  return hidden > 0 ? `\n\nAnd ${counted(hidden, 'more row')}.` : ''
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const caseIcons = { pass: '✅', fail: '❌', infra: '⚠️', invalid: '⚠️' } as const
