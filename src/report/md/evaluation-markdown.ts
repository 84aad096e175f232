import { formatDuration } from '../../core/duration.ts'
import type { JudgeResult, TrialRecord } from '../../core/trial.ts'
import { knownShare } from '../case-verdict.ts'
import { splitReason } from '../failure-lines.ts'
import { formatCost, formatPercent, formatScore } from '../quantity.ts'
import { trialEndingSentence } from '../trial-sentences.ts'
import { codeBlock, escapeMarkdown, fileLink, gateDetails, markdownTable } from './escape-markdown.ts'

export interface EvaluationOptions {
  /** Links: label → path relative to the document, with `/`. */
  readonly links: Readonly<Record<string, string>>
  /** Sentences about the likely causes of the metrics. */
  readonly diagnosis?: readonly string[]
}

/** `evaluation.md`: one trial for a person to read, with space for a human review. */
export function evaluationMarkdown(
  record: TrialRecord,
  { links, diagnosis = [] }: EvaluationOptions,
): string {
  const sections = [
    `# Evaluation: ${escapeMarkdown(record.case)}`,
    summary(record),
    ...(record.prompt === undefined ? [] : [`## Prompt\n\n${codeBlock(record.prompt)}`]),
    ...(record.judge === null ? [] : [judgeScore(record.judge)]),
    metrics(record, diagnosis),
    ...(record.gates.length === 0 ? [] : [gates(record)]),
    ...(record.judge === null ? [] : [judgeFeedback(record.judge)]),
    ...(record.evaluators.length === 0 ? [] : [evaluators(record)]),
    ...(record.warnings.length === 0 ? [] : [`## Warnings\n\n${bullets(record.warnings)}`]),
    humanReview,
    `## Links\n\n${Object.entries(links)
      .map(([label, path]) => `- ${fileLink(label, path)}`)
      .join('\n')}`,
  ]
  return `${sections.join('\n\n')}\n`
}

function summary(record: TrialRecord): string {
  const { sentence, lines } = splitReason(record.reason)
  const below = lines.length === 0 ? '' : `\n\n${codeBlock(lines.join('\n'))}`
  return `## Summary\n\n${fields([
    ['Scenario', record.case],
    ['Tool', record.agent],
    ['Model', record.model],
    ['Attempt', String(record.attempt)],
    ['Outcome', `${outcomes[record.verdict]}${sentence === '' ? '' : `: ${sentence}`}`],
    ...(record.cachedFrom === null ? [] : [['Taken from', record.cachedFrom] as const]),
  ])}${below}`
}

function judgeScore(judge: JudgeResult): string {
  const stars = Math.min(5, Math.max(0, Math.round(judge.weighted_score * 5)))
  const threshold = `${formatScore(judge.weighted_score)}, threshold ${formatScore(judge.threshold)}`
  return `## Judge Score\n\n**${stars}/5** (${threshold}, ${judge.passed ? 'passed' : 'not passed'})`
}

function metrics(record: TrialRecord, diagnosis: readonly string[]): string {
  const passed = record.gates.filter((gate) => gate.passed).length
  const use = record.metrics
  const ending = trialEndingSentence(record)
  const rows: [string, string][] = [
    ['Gates', `${passed}/${record.gates.length} passed`],
    ['Duration', formatDuration(record.durationMs)],
    ['Cost', formatCost(record.costUsd)],
  ]
  if (record.score !== null)
    rows.push([
      'Composite score',
      `${formatScore(record.score)}${record.tier === null ? '' : ` (${record.tier})`}`,
    ])
  if (record.tokens !== null) rows.push(['Tokens', `${record.tokens.input} in, ${record.tokens.output} out`])
  if (ending !== null) rows.push(['Ending', ending])
  if (use.source !== 'none')
    rows.push(
      ['Commands', `${use.total_commands} (${use.unique_commands} different)`],
      [
        'Errors',
        use.error_rate === null ? 'unknown' : `${use.error_count} (${formatPercent(use.error_rate)})`,
      ],
      ['Retries', `${use.retry_count} (${formatPercent(use.retry_rate)})`],
      ['Calls for help', String(use.help_invocations)],
      ['First-try success rate', knownShare(use.first_try_success_rate)],
      ['Iteration ratio', use.iteration_ratio.toFixed(2)],
      ['Completed', use.completed ? 'yes' : 'no'],
      ['Seen through', seenThrough[use.source]],
    )
  const causes = diagnosis.length === 0 ? '' : `\n\nLikely causes:\n\n${bullets(diagnosis)}`
  return `## Metrics\n\n${markdownTable(['Metric', 'Value'], rows)}${causes}`
}

const seenThrough: Readonly<Record<TrialRecord['metrics']['source'], string>> = {
  shim: 'recorded calls (exact)',
  events: 'events (exact)',
  transcript: 'transcript (guessed)',
  none: 'nothing',
}

function gates(record: TrialRecord): string {
  const rows = record.gates.map((gate) => [gate.type, gate.passed ? 'passed' : 'FAILED', gate.message])
  const details = record.gates.flatMap((gate) => (gate.passed ? [] : gateDetails(gate)))
  return ['## Gates', markdownTable(['Gate', 'Result', 'Message'], rows), ...details].join('\n\n')
}

function judgeFeedback(judge: JudgeResult): string {
  const failed = judge.samples.filter((sample) => sample.kind === 'error')
  const scores = Object.entries(judge.scores).map(([criterion, score]) => [criterion, formatScore(score)])
  const facts: [string, string][] = [
    ['Judge', judge.model],
    ['Confidence', formatScore(judge.confidence)],
    [
      'Samples',
      `${judge.samples.length}${failed.length === 0 ? '' : `, ${failed.length} without an answer`}`,
    ],
  ]
  if (judge.agreement !== null) facts.push(['Agreement', formatScore(judge.agreement)])
  facts.push(['Cost', formatCost(judge.costUsd)])
  return [
    '## Judge Feedback',
    fields(facts),
    ...(scores.length === 0 ? [] : [markdownTable(['Criterion', 'Score'], scores)]),
    ...(judge.issues.length === 0 ? [] : [`### Issues\n\n${bullets(judge.issues)}`]),
    ...(judge.highlights.length === 0 ? [] : [`### Highlights\n\n${bullets(judge.highlights)}`]),
    ...(failed.length === 0
      ? []
      : [`### Samples without an answer\n\n${bullets(failed.map(({ message }) => message))}`]),
  ].join('\n\n')
}

function evaluators(record: TrialRecord): string {
  const parts = record.evaluators.map(({ name, score, summary, error, metrics }) =>
    [
      `### ${escapeMarkdown(name)}`,
      ...(score === undefined ? [] : [`- **Score:** ${formatScore(score)}`]),
      ...(summary === undefined ? [] : [`- **Summary:** ${escapeMarkdown(summary)}`]),
      ...(error === undefined ? [] : [`- **Error:** ${escapeMarkdown(error)}`]),
      ...Object.entries(metrics ?? {}).map(
        ([key, value]) =>
          `- ${escapeMarkdown(key)}: ${escapeMarkdown(typeof value === 'string' ? value : JSON.stringify(value))}`,
      ),
    ].join('\n'),
  )
  return ['## Custom Evaluator Results', ...parts].join('\n\n')
}

const outcomes = { pass: 'Pass', fail: 'Fail', infra: 'Infra', invalid: 'Invalid' } as const

const humanReview = `## Human Review

<!--
Score (out of 5):
Notes:
-->`

function fields(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([label, value]) => `- **${label}:** ${escapeMarkdown(value)}`).join('\n')
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${escapeMarkdown(line)}`).join('\n')
}
