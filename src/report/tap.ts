import { shorten } from '../core/shorten.ts'
import type { TrialRecord } from '../core/trial.ts'
import { allowedFailures, whyAllowed } from './case-verdict.ts'
import type { FinishedRun, ReporterFactory, Sink } from './contract.ts'
import { changeLines, failureLines, splitReason } from './failure-lines.ts'
import { plainLine } from './plain-text.ts'
import { notRunReason } from './run-sentence.ts'
import { modelsUsed, trialName } from './trial-sentences.ts'

/** TAP version 14: a test point per trial, YAML diagnostics with why a trial did not pass, its prompt and its changes, SKIP for those that did not run. */
export const tapReporter: ReporterFactory = ({ sink }) => ({ runEnded: (run) => writeTap(run, sink) })

async function writeTap(run: FinishedRun, sink: Sink): Promise<void> {
  const skipped = run.notRun?.length ?? run.summary.notRun
  let total = skipped
  for await (const _ of run.records()) total += 1
  sink.write(`TAP version 14\n1..${total}${total === 0 ? ' # SKIP no trials' : ''}\n`)
  const isAllowed = allowedFailures(run.summary)
  let number = 0
  try {
    for await (const record of run.records()) {
      number += 1
      sink.write(testPoint(record, number, run, isAllowed(record)))
      await sink.drain?.()
    }
  } catch (error) {
    sink.write(`Bail out! The trials could not be read completely: ${escapeTap(String(error))}\n`)
    throw error
  }
  for (let index = 0; index < skipped; index++) {
    const trial = run.notRun?.[index]
    const name = trial === undefined ? 'planned trial' : trialName(trial)
    sink.write(`ok ${number + index + 1} - ${escapeTap(name)} # SKIP ${notRunReason(run)}\n`)
  }
}

/** A failure within the run's threshold is a TODO, which a harness shows without failing. */
function testPoint(record: TrialRecord, number: number, run: FinishedRun, isAllowed: boolean): string {
  const status = record.verdict === 'pass' ? 'ok' : 'not ok'
  const directive = isAllowed ? ` # TODO ${whyAllowed(record)}` : ''
  const line = `${status} ${number} - ${escapeTap(trialName(record))}${directive}\n`
  if (record.verdict !== 'pass') return line + diagnostics(record, run)
  const changes = changeLines(run.workspaceDiff?.(record) ?? null)
  const details = yamlBlock({
    model: modelsUsed(record),
    ...(record.prompt !== undefined && { prompt: shorten(record.prompt, 2_000) }),
    ...(changes.length > 0 && { explanation: changes }),
  })
  return line + details + record.warnings.map((warning) => `# warning: ${plainLine(warning)}\n`).join('')
}

function diagnostics(record: TrialRecord, run: FinishedRun): string {
  const reason = splitReason(record.reason)
  return yamlBlock({
    verdict: record.verdict,
    message: reason.sentence,
    severity: record.verdict === 'fail' ? 'fail' : 'error',
    file: record.file,
    agent: record.agent,
    model: modelsUsed(record),
    duration_ms: Math.round(record.durationMs),
    cost_usd: record.costUsd ?? 'unmetered',
    explanation: [...reason.lines, ...failureLines(record, run)],
  })
}

function yamlBlock(values: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(values).flatMap(([key, value]) =>
    Array.isArray(value)
      ? [`  ${key}:`, ...value.map((item) => `    - ${yamlScalar(item)}`)]
      : [`  ${key}: ${yamlScalar(value)}`],
  )
  return lines.length === 0 ? '' : ['  ---', ...lines, '  ...', ''].join('\n')
}

/** JSON is valid YAML, except for characters that YAML does not count as printable. */
function yamlScalar(value: unknown): string {
  const json = JSON.stringify(typeof value === 'string' ? value.toWellFormed() : value)
  return json.replaceAll(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** One line in which a `#` starts no directive. */
function escapeTap(text: string): string {
  return plainLine(text).replaceAll('\\', '\\\\').replaceAll('#', '\\#')
}
