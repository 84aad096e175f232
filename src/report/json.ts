import { shorten } from '../core/shorten.ts'
import type { FinishedRun, ReporterFactory, Sink } from './contract.ts'

/**
 * One JSON document with a trial per line. Always valid: when the records cannot be read completely, the document ends with an
 * `error`.
 */
export const jsonReporter: ReporterFactory = ({ sink }) => ({ runEnded: (run) => writeJson(run, sink) })

/** A longer diff is in the trial's `workspace.diff`. */
const maxDiffChars = 65_536

async function writeJson(run: FinishedRun, sink: Sink): Promise<void> {
  const head = {
    schema_version: 1,
    gantry_version: run.version,
    run_id: run.runId,
    run_dir: run.runDir,
    title: run.title,
    started_at: run.startedAt,
    ended_at: run.endedAt,
    interrupted: run.interrupted === true,
    summary: run.summary,
    ...(run.regrade !== undefined && { regrade: run.regrade }),
    ...(run.comparisons !== undefined && { comparisons: run.comparisons }),
  }
  sink.write(`${JSON.stringify(head).slice(0, -1)},"trials":[`)
  let separator = '\n'
  try {
    for await (const record of run.records()) {
      const diff = run.workspaceDiff?.(record) ?? null
      const changes = diff === null ? {} : { workspaceDiff: shorten(diff, maxDiffChars, '\n…') }
      sink.write(separator + JSON.stringify({ ...record, ...changes }))
      separator = ',\n'
      await sink.drain?.()
    }
  } catch (error) {
    sink.write(
      `\n],"error":${JSON.stringify(`The trials could not be read completely: ${String(error)}`)}}\n`,
    )
    throw error
  }
  sink.write('\n]}\n')
}
