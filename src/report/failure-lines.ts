import type { TrialRecord } from '../core/trial.ts'
import { type DetailLimits, detailLines } from './gate-detail.ts'
import { plainLine } from './plain-text.ts'
import { endingSentence, judgeSentence, metricsSentence } from './trial-words.ts'

/** Why a trial did not pass, as lines of plain text for readers without markup. The reason itself is not repeated. */
export function failureLines(
  record: TrialRecord,
  diagnosis: readonly string[] = [],
  limits: DetailLimits = {},
): string[] {
  const failed = record.gates.filter((gate) => !gate.passed)
  const judge = record.judge?.passed === false ? judgeSentence(record) : null
  return [
    ...failed.flatMap((gate) => [
      `gate ${plainLine(gate.type)}: ${plainLine(gate.message)}`,
      ...detailLines(gate.detail, { ...limits, message: gate.message }).map((line) => `    ${line}`),
    ]),
    ...(judge === null ? [] : [`judge: ${judge}`]),
    ...(judge === null ? [] : (record.judge?.issues ?? []).map((issue) => `    | ${plainLine(issue)}`)),
    ...record.evaluators.flatMap(({ name, error }) =>
      error === undefined ? [] : [`evaluator ${plainLine(name)}: ${plainLine(error)}`],
    ),
    ...labelled('agent', endingSentence(record)),
    ...labelled('use of the tool', metricsSentence(record)),
    ...diagnosis.map((sentence) => `likely cause: ${plainLine(sentence)}`),
    ...record.warnings.map((warning) => `warning: ${plainLine(warning)}`),
    `files: ${plainLine(record.dir)}`,
  ]
}

function labelled(label: string, sentence: string | null): string[] {
  return sentence === null ? [] : [`${label}: ${sentence}`]
}
