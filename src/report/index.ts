import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import type { Reporter, ReporterContext } from './contract.ts'

/** The registry. Only the requested reporters are loaded. */
const reporters = {
  console: async (context) => (await import('./console/console.ts')).openConsole(context),
  json: async (context) => (await import('./json.ts')).jsonReporter(context),
  junit: async (context) => (await import('./junit.ts')).junitReporter(context),
  tap: async (context) => (await import('./tap.ts')).tapReporter(context),
  md: async (context) => (await import('./md/md.ts')).mdReporter(context),
  html: async (context) => (await import('./html/html.ts')).htmlReporter(context),
  github: async (context) => (await import('./github.ts')).githubReporter(context),
} as const satisfies Record<string, (context: ReporterContext) => Promise<Reporter>>

export type ReporterName = keyof typeof reporters

export const reporterNames: readonly string[] = Object.keys(reporters)

export function openReporter(name: ReporterName, context: ReporterContext): Promise<Reporter> {
  return reporters[name](context)
}

export interface ReporterSpec {
  readonly name: ReporterName
  /** As the user wrote it; null means standard output. */
  readonly path: string | null
}

/** `NAME[:PATH]`. Throws GantryError USAGE for a name that is not in the registry or a colon without a path. */
export function parseReporterSpec(text: string): ReporterSpec {
  const colon = text.indexOf(':')
  const name = colon === -1 ? text : text.slice(0, colon)
  const path = colon === -1 ? null : text.slice(colon + 1)
  if (!isReporterName(name)) throw unknownReporter(name)
  if (path === '')
    throw new GantryError('USAGE', `The reporter ${JSON.stringify(text)} has a colon and no path.`, {
      hint: `Write ${name} for standard output or ${name}:PATH for a file.`,
    })
  return { name, path }
}

function isReporterName(name: string): name is ReporterName {
  return Object.hasOwn(reporters, name)
}

function unknownReporter(name: string): GantryError {
  const close = nearest(name, reporterNames)
  const guess = close === undefined ? '' : `; did you mean ${close}?`
  return new GantryError('USAGE', `There is no reporter ${JSON.stringify(name)}${guess}`, {
    hint: `Choose one of ${reporterNames.join(', ')}; add :PATH to write to a file.`,
  })
}
