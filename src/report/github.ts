import { counted } from '../core/counted.ts'
import type { TrialRecord } from '../core/trial.ts'
import { allowedFailures, groupOf } from './case-verdict.ts'
import type { FinishedRun, ReporterContext, ReporterFactory, Sink } from './contract.ts'
import { runMarkdown } from './md/md.ts'
import { plainLine, plainText, withoutCommands } from './plain-text.ts'
import { trialName } from './trial-sentences.ts'

/**
 * For GitHub Actions: annotations on `sink`, which must be the job's log, and a step summary on `summarySink` (on `sink` when
 * there is none, so that the reporter works anywhere).
 */
export const githubReporter: ReporterFactory = (context) => ({
  async runEnded(run) {
    await writeAnnotations(run, context)
    await writeSummary(run, context.summarySink ?? commandFree(context.sink))
  },
})

function commandFree(sink: Sink): Sink {
  return { write: (text) => sink.write(withoutCommands(text)), drain: async () => sink.drain?.() }
}

/** GitHub shows few annotations per step; more would hide the first ones. */
const maxAnnotations = 50
/** GitHub drops a step summary above 1 MiB entirely. */
const maxSummaryBytes = 900 * 1024
const maxMessageChars = 4_000

/** Trials that failed in the same way share one annotation. */
async function writeAnnotations(run: FinishedRun, { sink, repositoryPath }: ReporterContext): Promise<void> {
  const isAllowed = allowedFailures(run.summary)
  const found = new Map<string, { readonly record: TrialRecord; count: number }>()
  let more = 0
  for await (const record of run.records()) {
    if (record.verdict === 'pass') continue
    const key = JSON.stringify([groupOf(record), record.verdict, messageOf(record)])
    const same = found.get(key)
    if (same !== undefined) same.count += 1
    else if (found.size < maxAnnotations) found.set(key, { record, count: 1 })
    else more += 1
  }
  for (const { record, count } of found.values())
    sink.write(annotation(record, levelOf(record, isAllowed(record)), count, repositoryPath))
  if (more > 0) {
    const level = run.summary.verdict === 'pass' ? 'notice' : 'error'
    sink.write(`::${level}::${counted(more, 'more trial')} did not pass; see the step summary\n`)
  }
}

/** An infrastructure failure says nothing about the change under test, and a failure within the threshold fails nothing. */
function levelOf({ verdict }: TrialRecord, isAllowed: boolean): 'error' | 'warning' | 'notice' {
  if (isAllowed) return 'notice'
  return verdict === 'infra' ? 'warning' : 'error'
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

function annotation(
  record: TrialRecord,
  level: ReturnType<typeof levelOf>,
  count: number,
  repositoryPath: ReporterContext['repositoryPath'] = (file) => file,
): string {
  const line = record.gates.find((gate) => !gate.passed)?.line ?? 1
  const place = record.file === '' ? '' : `file=${escapeProperty(repositoryPath(record.file))},line=${line},`
  const times = count > 1 ? ` (${count} trials)` : ''
  const title = escapeProperty(`${record.verdict}: ${trialName(record)}${times}`)
  return `::${level} ${place}title=${title}::${escapeData(messageOf(record).slice(0, maxMessageChars))}\n`
}

/** The reason and the failed gates that it does not name itself. */
function messageOf({ reason, gates }: TrialRecord): string {
  const failed = gates.filter((gate) => !gate.passed && !reason.includes(gate.message))
  return [reason, ...failed.map((gate) => `${gate.type}: ${gate.message}`)].map(plainLine).join('\n')
}

function escapeData(text: string): string {
  return plainText(text).replaceAll('%', '%25').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(plainLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
