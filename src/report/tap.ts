import type { TrialRecord } from '../core/trial.ts'
import type { FinishedRun, ReporterFactory, Sink } from './contract.ts'
import { failureLines, splitReason } from './failure-lines.ts'
import { plainLine } from './plain-text.ts'
import { notRunReason } from './run-text.ts'
import { trialName } from './trial-text.ts'

/** TAP version 14: a test point per trial, YAML diagnostics for what did not pass, SKIP for what did not run. */
export const tapReporter: ReporterFactory = ({ sink }) => ({
  runEnded: (run) => writeTap(run, sink),
})

async function writeTap(run: FinishedRun, sink: Sink): Promise<void> {
  const skipped = run.notRun?.length ?? run.summary.notRun
  let total = skipped
  for await (const _ of run.records()) total += 1
  sink.write(`TAP version 14\n1..${total}${total === 0 ? ' # SKIP no trials' : ''}\n`)
  let number = 0
  try {
    for await (const record of run.records()) {
      number += 1
      sink.write(testPoint(record, number, run))
      await sink.drain?.()
    }
  } catch (error) {
    sink.write(`Bail out! The trials could not be read to the end: ${escapeTap(String(error))}\n`)
    throw error
  }
  for (let index = 0; index < skipped; index++) {
    const trial = run.notRun?.[index]
    const name = trial === undefined ? 'planned trial' : trialName(trial)
    sink.write(`ok ${number + index + 1} - ${escapeTap(name)} # SKIP ${notRunReason(run)}\n`)
  }
}

function testPoint(record: TrialRecord, number: number, run: FinishedRun): string {
  const status = record.verdict === 'pass' ? 'ok' : 'not ok'
  const line = `${status} ${number} - ${escapeTap(trialName(record))}\n`
  return record.verdict === 'pass' ? line : line + diagnostics(record, run)
}

function diagnostics(record: TrialRecord, run: FinishedRun): string {
  const reason = splitReason(record.reason)
  const values: Readonly<Record<string, unknown>> = {
    verdict: record.verdict,
    message: reason.sentence,
    severity: record.verdict === 'fail' ? 'fail' : 'error',
    file: record.file,
    agent: record.agent,
    model: record.model,
    duration_ms: Math.round(record.durationMs),
    cost_usd: record.costUsd ?? 'unmetered',
    explanation: [...reason.lines, ...failureLines(record, run.diagnose?.(record))],
  }
  const lines = Object.entries(values).flatMap(([key, value]) =>
    Array.isArray(value)
      ? [`  ${key}:`, ...value.map((item) => `    - ${yamlScalar(item)}`)]
      : [`  ${key}: ${yamlScalar(value)}`],
  )
  return ['  ---', ...lines, '  ...', ''].join('\n')
}

/** JSON is YAML, but for what YAML does not count as printable. */
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
