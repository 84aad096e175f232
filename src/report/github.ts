import { counted } from '../core/counted.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { FinishedRun, ReporterFactory, Sink } from './contract.ts'
import { runMarkdown } from './md/md.ts'
import { plainLine, plainText, withoutCommands } from './plain-text.ts'
import { trialName } from './trial-text.ts'

/**
 * For GitHub Actions: annotations on `sink`, which must be the job's log, and a step summary on `summarySink`
 * (on `sink` as well when there is none, so that the reporter can be tried out anywhere).
 */
export const githubReporter: ReporterFactory = ({ sink, summarySink }) => ({
  async runEnded(run) {
    await writeAnnotations(run, sink)
    await writeSummary(run, summarySink ?? commandFree(sink))
  },
})

function commandFree(sink: Sink): Sink {
  return {
    write: (text) => sink.write(withoutCommands(text)),
    drain: async () => sink.drain?.(),
  }
}

/** GitHub keeps few annotations of a step; a flood would only hide the first. */
const maxAnnotations = 50
/** GitHub drops a step summary above 1 MiB whole. */
const maxSummaryBytes = 900 * 1024
const maxMessageChars = 4_000

async function writeAnnotations(run: FinishedRun, sink: Sink): Promise<void> {
  let found = 0
  for await (const record of run.records()) {
    if (record.verdict === 'pass') continue
    found += 1
    if (found <= maxAnnotations) sink.write(annotation(record))
  }
  if (found > maxAnnotations)
    sink.write(
      `::error::${counted(found - maxAnnotations, 'more trial')} did not pass; see the step summary\n`,
    )
}

async function writeSummary(run: FinishedRun, sink: Sink): Promise<void> {
  let bytes = 0
  for await (const piece of runMarkdown(run, { maxCases: 100 })) {
    bytes += Buffer.byteLength(piece)
    if (bytes > maxSummaryBytes) {
      sink.write(`The rest does not fit into a step summary. Files: ${plainLine(run.runDir)}\n`)
      return
    }
    sink.write(piece)
    await sink.drain?.()
  }
}

function annotation(record: TrialRecord): string {
  const failed = record.gates.filter((gate) => !gate.passed)
  const message = [record.reason, ...failed.map((gate) => `${gate.type}: ${gate.message}`)]
    .map(plainLine)
    .join('\n')
  const file = record.file === '' ? '' : `file=${escapeProperty(record.file)},`
  // An infrastructure failure says nothing about the change under test, so it is a warning.
  const command = record.verdict === 'infra' ? 'warning' : 'error'
  return `::${command} ${file}title=${escapeProperty(`${record.verdict}: ${trialName(record)}`)}::${escapeData(message.slice(0, maxMessageChars))}\n`
}

function escapeData(text: string): string {
  return plainText(text).replaceAll('%', '%25').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(plainLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
