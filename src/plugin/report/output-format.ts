import { GantryError } from '../../core/error.ts'
import { nearest } from '../../core/nearest.ts'

/** The documents an evaluation can be told as. */
export const outputFormats = ['json', 'yaml', 'junit-xml', 'tap', 'md', 'html'] as const
export type OutputFormat = (typeof outputFormats)[number]

export interface OutputSpec {
  readonly format: OutputFormat
  /** As the user wrote it; null means standard output. */
  readonly path: string | null
}

/** `FORMAT[:PATH]`. Throws GantryError USAGE for a format there is not, or a colon without a path. */
export function parseOutput(text: string): OutputSpec {
  const colon = text.indexOf(':')
  const name = colon === -1 ? text : text.slice(0, colon)
  const path = colon === -1 ? null : text.slice(colon + 1)
  // What the reporter is called elsewhere in the house is understood, too.
  const format = name === 'junit' ? 'junit-xml' : outputFormats.find((known) => known === name)
  if (format === undefined) {
    const close = nearest(name, outputFormats)
    throw new GantryError('USAGE', `there is no output format ${JSON.stringify(name)}`, {
      hint: close === undefined ? `Choose one of ${outputFormats.join(', ')}.` : `Did you mean ${close}?`,
    })
  }
  if (path === '')
    throw new GantryError('USAGE', `--output ${JSON.stringify(text)} has a colon and no path`, {
      hint: `Write ${name} for standard output or ${name}:PATH for a file.`,
    })
  return { format, path }
}

/** The name a document has in the directory of its run. */
export function documentName(format: OutputFormat): string {
  return `evaluation.${format === 'junit-xml' ? 'xml' : format}`
}
