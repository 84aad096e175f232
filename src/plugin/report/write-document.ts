import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { nearest } from '../../core/nearest.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { fileOutput } from '../../io/file-output.ts'
import type { FinishedRun, Sink } from '../../report/contract.ts'
import { openReporter, type ReporterName, type ReporterSpec } from '../../report/index.ts'
import { evaluationFiles } from '../pipeline/evaluation-files.ts'

export interface DocumentOptions {
  readonly suiteName: string
}

/** Writes a finished evaluation as one document. `path` is used for links; null for a stream. */
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
  const reporter = await openReporter(
    reporters[format],
    defined({ sink, color: false, columns: 80, live: false, path: path ?? undefined }),
  )
  await reporter.runEnded?.(format === 'junit-xml' ? { ...run, title: suiteName } : run)
}

/** Writes the file atomically. */
export async function writeDocumentFile(
  format: OutputFormat,
  run: FinishedRun,
  path: string,
  options: DocumentOptions,
): Promise<void> {
  const absolute = resolve(path)
  const file = fileOutput(absolute)
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

export const outputFormats = ['json', 'yaml', 'junit-xml', 'tap', 'md', 'html'] as const
type OutputFormat = (typeof outputFormats)[number]

export interface OutputSpec extends Pick<ReporterSpec, 'name' | 'path'> {
  readonly format: OutputFormat
}

/** `FORMAT[:PATH]`. Throws GantryError USAGE for an unknown format, or a colon without a path. */
export function parseOutput(text: string): OutputSpec {
  const colon = text.indexOf(':')
  const name = colon === -1 ? text : text.slice(0, colon)
  const path = colon === -1 ? null : text.slice(colon + 1)
  // The name of the reporter is accepted too.
  const format = name === 'junit' ? 'junit-xml' : outputFormats.find((known) => known === name)
  if (format === undefined) {
    const close = nearest(name, outputFormats)
    throw new GantryError('USAGE', `unknown output format ${JSON.stringify(name)}`, {
      hint: close === undefined ? `Choose one of ${outputFormats.join(', ')}.` : `Did you mean ${close}?`,
    })
  }
  if (path === '')
    throw new GantryError('USAGE', `--output ${JSON.stringify(text)} has a colon but no path`, {
      hint: `Write ${name} for standard output or ${name}:PATH for a file.`,
    })
  return { name, format, path }
}

export function documentName(format: OutputFormat): string {
  return `evaluation.${format === 'junit-xml' ? 'xml' : format}`
}
