import type { FinishedRun, ReporterFactory, Sink } from './contract.ts'

/**
 * One JSON document, a trial per line of it. Valid whatever happens: when the records cannot be read to the end the
 * document is closed with an `error` that says so.
 */
export const jsonReporter: ReporterFactory = ({ sink }) => ({
  runEnded: (run) => writeJson(run, sink),
})

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
  }
  sink.write(`${JSON.stringify(head).slice(0, -1)},"trials":[`)
  let separator = '\n'
  try {
    for await (const record of run.records()) {
      sink.write(separator + JSON.stringify(record))
      separator = ',\n'
      await sink.drain?.()
    }
  } catch (error) {
    sink.write(
      `\n],"error":${JSON.stringify(`The trials could not be read to the end: ${String(error)}`)}}\n`,
    )
    throw error
  }
  sink.write('\n]}\n')
}
