import type { TrialRecord } from '../../core/trial.ts'
import type { FinishedRun } from '../contract.ts'
import { nextSteps, runEnding, runSentence, totals } from '../run-words.ts'
import { splitReason } from '../split-reason.ts'
import { agentName, endingSentence, judgeSentence, metricsSentence, trialName } from '../trial-words.ts'
import { caseTable, useTable } from './case-tables.ts'
import { codeBlock, escapeMarkdown, fileLink, markdownTable } from './escape-markdown.ts'
import { gateDetails } from './gate-details.ts'
import { sectionMarkdown } from './section-markdown.ts'

export interface RunMarkdownOptions {
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
  yield `${runSentence(run)}\n\n`
  yield `${markdownTable(['', ''], [...totals(summary), ['Run', run.runId]])}\n\n`
  if (summary.regressions.length > 0)
    yield `## Regressions\n\n${summary.regressions
      .map(
        (found) =>
          `- **${found.severity}** ${escapeMarkdown(`${found.case} (${agentName(found)})`)}: ${escapeMarkdown(found.message)}`,
      )
      .join('\n')}\n\n`
  for (const section of run.sections ?? []) yield sectionMarkdown(section)
  if (summary.cases.length > 0 && run.showCases !== false) yield `${caseTable(summary, options.maxCases)}\n\n`
  yield useTable(summary.cases, options.maxCases)
  let heading = '## What did not pass\n\n'
  for await (const record of run.records()) {
    if (record.verdict === 'pass') continue
    yield heading + failure(record, run, options)
    heading = ''
  }
  const steps = nextSteps(run)
  if (steps.length > 0) yield `## Next\n\n${steps.map((step) => `- ${escapeMarkdown(step)}`).join('\n')}\n\n`
  yield `Made by Gantry ${escapeMarkdown(run.version)}. Files: ${escapeMarkdown(run.runDir)}\n`
}

function failure(record: TrialRecord, run: FinishedRun, { linkOf }: RunMarkdownOptions): string {
  const facts = [
    ...fact('Agent', endingSentence(record)),
    ...fact('Judge', judgeSentence(record)),
    ...(record.judge?.passed === false ? record.judge.issues : []).map(
      (issue) => `- Issue: ${escapeMarkdown(issue)}`,
    ),
    ...record.evaluators.flatMap(({ name, error }) =>
      error === undefined ? [] : fact(`Evaluator ${name}`, error),
    ),
    ...fact('Use of the tool', metricsSentence(record)),
    ...(run.diagnose?.(record) ?? []).map((sentence) => `- Likely cause: ${escapeMarkdown(sentence)}`),
    ...record.warnings.map((warning) => `- Warning: ${escapeMarkdown(warning)}`),
  ]
  const reason = splitReason(record.reason)
  const link = linkOf?.(record) ?? null
  const gates = record.gates.filter((gate) => !gate.passed)
  const blocks = [
    `### ${trialIcons[record.verdict]} ${escapeMarkdown(trialName(record))}`,
    `**${record.verdict}**: ${escapeMarkdown(reason.sentence)}`,
    ...(reason.lines.length === 0 ? [] : [codeBlock(reason.lines.join('\n'))]),
    ...(gates.length === 0
      ? []
      : [
          markdownTable(
            ['Failed gate', 'Message'],
            gates.map((gate) => [gate.type, gate.message]),
          ),
        ]),
    ...gates.flatMap(gateDetails),
    ...(facts.length === 0 ? [] : [facts.join('\n')]),
    `Files: ${link === null ? escapeMarkdown(record.dir) : fileLink(record.id, link)}`,
  ]
  return `${blocks.join('\n\n')}\n\n`
}

function fact(label: string, sentence: string | null): string[] {
  return sentence === null ? [] : [`- ${escapeMarkdown(label)}: ${escapeMarkdown(sentence)}`]
}

const trialIcons = { pass: '✅', fail: '❌', infra: '⚠️', invalid: '❓' } as const
const icons = { ...trialIcons, partial: '⏸️', inconclusive: '❔', interrupted: '⏸️' } as const
