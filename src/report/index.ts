import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import type { Reporter, ReporterContext } from './contract.ts'
import type { ReporterDefinition } from './define-reporter.ts'

/** The registry. Only the requested reporters are loaded. */
const reporters = {
  console: async (context) => (await import('./console/console.ts')).openConsole(context),
  json: async (context) => (await import('./json.ts')).jsonReporter(context),
  junit: async (context) => (await import('./junit.ts')).junitReporter(context),
  tap: async (context) => (await import('./tap.ts')).tapReporter(context),
  md: async (context) => (await import('./md/md.ts')).mdReporter(context),
  html: async (context) => (await import('./html/html.ts')).htmlReporter(context),
  github: async (context) => (await import('./github.ts')).githubReporter(context),
  blob: async (context) => (await import('./blob.ts')).blobReporter(context),
} as const satisfies Record<string, (context: ReporterContext) => Promise<Reporter>>

export type ReporterName = keyof typeof reporters

export const reporterNames: readonly string[] = Object.keys(reporters)

export async function openReporter(name: string, context: ReporterContext): Promise<Reporter> {
  if (!isReporterName(name)) throw unknownReporter(name)
  return reporters[name](context)
}

export interface ReporterSpec {
  /** A built-in name, or the path of a module as the user wrote it. */
  readonly name: string
  /** As the user wrote it; null means standard output. */
  readonly path: string | null
  /** A reporter of the user: the path of its module, or the reporter itself. */
  readonly own?: string | ReporterDefinition
}

/**
 * `NAME[:PATH]`, where a name that ends in .js, .mjs or .ts is a module of the user. Throws GantryError USAGE for another name that is
 * not in the registry, or a colon without a path.
 */
export function parseReporterSpec(text: string): ReporterSpec {
  const [builtIn = ''] = text.split(':', 1)
  const [, own] = isReporterName(builtIn) ? [] : (/^(.+?\.(?:js|mjs|ts))(?::|$)/.exec(text) ?? [])
  const name = own ?? builtIn
  const path = name === text ? null : text.slice(name.length + 1)
  if (own === undefined && !isReporterName(name)) throw unknownReporter(name)
  if (name === 'blob' && path === null)
    throw new GantryError('USAGE', 'The reporter blob needs a directory.', { hint: 'Write blob:DIR.' })
  if (path === '')
    throw new GantryError('USAGE', `The reporter ${JSON.stringify(text)} has a colon but no path.`, {
      hint: `Write ${name} for standard output or ${name}:PATH for a file.`,
    })
  return { name, path, ...(own !== undefined && { own }) }
}

/** Whether it may write to standard output beside another reporter: it prints lines, or maybe nothing. */
export function sharesOutput({ name, own }: ReporterSpec): boolean {
  return name === 'console' || name === 'github' || own !== undefined
}

function isReporterName(name: string): name is ReporterName {
  return Object.hasOwn(reporters, name)
}

function unknownReporter(name: string): GantryError {
  const close = nearest(name, reporterNames)
  const guess = close === undefined ? '' : `; did you mean ${close}?`
  return new GantryError('USAGE', `There is no reporter ${JSON.stringify(name)}${guess}`, {
    hint: `Choose one of ${reporterNames.join(', ')}, or name a module such as ./reporter.js; add :PATH to write to a file.`,
  })
}
