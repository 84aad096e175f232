import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { readTextIfExists } from '../../io/directory.ts'
import { fileSink } from '../../io/sink.ts'
import type { FinishedRun, Sink } from '../../report/contract.ts'
import { openReporter, type ReporterName } from '../../report/index.ts'
import { evaluationFiles } from '../pipeline/evaluation-files.ts'
import type { OutputFormat } from './output-format.ts'

export interface DocumentOptions {
  /** What the JUnit document is called. */
  readonly suiteName: string
}

/** A finished evaluation as one document. `path` is where it lies, for links; null for a stream. */
export async function writeDocument(
  format: OutputFormat,
  run: FinishedRun,
  sink: Sink,
  path: string | null,
  { suiteName }: DocumentOptions,
): Promise<void> {
  if (format === 'json' || format === 'yaml') {
    const text = readTextIfExists(evaluationFiles(run.runDir).evaluation) ?? 'null'
    sink.write(
      format === 'json' ? text : stringify(JSON.parse(text), { aliasDuplicateObjects: false, lineWidth: 0 }),
    )
    return
  }
  const reporter = await openReporter(reporters[format], {
    sink,
    color: false,
    columns: 80,
    live: false,
    ...(path !== null && { path }),
  })
  await reporter.runEnded?.(format === 'junit-xml' ? { ...run, title: suiteName } : run)
}

/** Into a file that appears whole or not at all. */
export async function writeDocumentFile(
  format: OutputFormat,
  run: FinishedRun,
  path: string,
  options: DocumentOptions,
): Promise<void> {
  const absolute = resolve(path)
  const file = fileSink(absolute)
  try {
    await writeDocument(format, run, file, absolute, options)
    file.close()
  } catch (error) {
    file.discard()
    throw error
  }
}

const reporters: Readonly<Record<Exclude<OutputFormat, 'json' | 'yaml'>, ReporterName>> = {
  'junit-xml': 'junit',
  tap: 'tap',
  md: 'md',
  html: 'html',
}
