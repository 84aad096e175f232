import { resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { appendOutput, fileOutput } from '../io/text-output.ts'
import type { Reporter, ReporterContext, Sink } from './contract.ts'
import { openReporter, type ReporterSpec } from './index.ts'

/** Streams and environment for reporters. */
export interface ReportOutlet {
  readonly stdout: Sink & {
    readonly isTTY: boolean
    readonly columns: number
    readonly color: boolean
    readonly rows?: number
  }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Plain lines even on a terminal. */
  readonly plain?: boolean
}

/**
 * Opens all requested reporters as one. Files are written atomically when the run has ended. Throws GantryError USAGE when two
 * of them would mix on standard output.
 */
export async function openReporters(
  specs: readonly ReporterSpec[],
  outlet: ReportOutlet,
): Promise<ComposedReporter> {
  refuseMixing(specs)
  const opened: Record<string, Reporter> = {}
  for (const spec of specs) opened[labelOf(spec, opened)] = await openOne(spec, outlet)
  return composeReporters(opened)
}

async function openOne({ name, path }: ReporterSpec, outlet: ReportOutlet): Promise<Reporter> {
  if (name === 'github') return openGithub(path, outlet)
  if (path === null) return openReporter(name, terminalContext(outlet))
  const absolute = resolve(outlet.cwd, path)
  return intoFile(absolute, (sink) => openReporter(name, { ...fileContext(sink), path: absolute }))
}

/** Annotations only work in the job's log; a path is for the summary. */
async function openGithub(path: string | null, outlet: ReportOutlet): Promise<Reporter> {
  const context = terminalContext(outlet)
  if (path !== null)
    return intoFile(resolve(outlet.cwd, path), (summarySink) =>
      openReporter('github', { ...context, summarySink }),
    )
  const stepSummary = outlet.env.GITHUB_STEP_SUMMARY ?? ''
  const summary = stepSummary === '' ? {} : { summarySink: appendOutput(stepSummary) }
  return openReporter('github', { ...context, ...summary })
}

async function intoFile(path: string, open: (sink: Sink) => Promise<Reporter>): Promise<Reporter> {
  const file = fileOutput(path)
  const reporter = await open(file)
  return {
    ...reporter,
    async runEnded(run) {
      try {
        await reporter.runEnded?.(run)
        file.close()
      } catch (error) {
        file.discard()
        throw error
      }
    },
  }
}

function terminalContext({ stdout, env, plain = false }: ReportOutlet): ReporterContext {
  const size = (): { columns: number; rows: number } => ({ columns: stdout.columns, rows: stdout.rows ?? 24 })
  return {
    sink: stdout,
    color: stdout.color,
    columns: stdout.columns,
    live: stdout.isTTY && !plain && env.TERM !== 'dumb',
    ...(stdout.isTTY ? { size } : {}),
    ascii: asciiOnly(env),
  }
}

function fileContext(sink: Sink): ReporterContext {
  return { sink, color: false, columns: 80, live: false }
}

/** Containers that show UTF-8 well often set no locale, so only a locale with another encoding counts. */
export function asciiOnly(env: ReportOutlet['env']): boolean {
  if (env.TERM === 'dumb') return true
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find((value) => value !== undefined && value !== '')
  return locale !== undefined && !/utf-?8/i.test(locale)
}

function refuseMixing(specs: readonly ReporterSpec[]): void {
  const onStdout = specs.filter(({ path }) => path === null).map(({ name }) => name)
  const alone = onStdout.find((name) => name !== 'console' && name !== 'github')
  const clash = onStdout.length > 1 && (alone !== undefined || new Set(onStdout).size < onStdout.length)
  if (!clash) return
  const name = alone ?? onStdout[0] ?? 'console'
  throw new GantryError('USAGE', `The reporters ${onStdout.join(' and ')} would mix on standard output.`, {
    hint: `Send one of them to a file: --reporter ${name}:PATH`,
  })
}

function labelOf({ name, path }: ReporterSpec, taken: Readonly<Record<string, Reporter>>): string {
  const label = path === null ? name : `${name}:${path}`
  if (!Object.hasOwn(taken, label)) return label
  throw new GantryError('USAGE', `The reporter ${label} is named twice.`, {
    hint: 'Name each reporter once.',
  })
}

/** A reporter that broke: which one, and why. */
interface ReporterProblem {
  readonly name: string
  readonly error: unknown
}

export interface ComposedReporter extends Required<Reporter> {
  runEnded(...args: Parameters<NonNullable<Reporter['runEnded']>>): Promise<void>
  /** Complete once `runEnded` has settled. The caller reports them to the user. */
  problems(): readonly ReporterProblem[]
}

/**
 * Forwards every call to all reporters. A reporter that throws stops neither the others nor the run: it is left out from then
 * on, and its error is kept. `runEnded` is called one by one, so that two reporters on one terminal do not mix.
 */
export function composeReporters(
  reporters: Readonly<Record<string, Reporter>> | readonly Reporter[],
): ComposedReporter {
  const working = new Map(Object.entries(reporters))
  const problems: ReporterProblem[] = []
  const broken = (name: string, error: unknown): void => {
    working.delete(name)
    problems.push({ name, error })
  }
  const forward = (call: (reporter: Reporter) => void): void => {
    for (const [name, reporter] of working)
      try {
        call(reporter)
      } catch (error) {
        broken(name, error)
      }
  }
  return {
    runStarted: (run) => forward((reporter) => reporter.runStarted?.(run)),
    trialStarted: (trial) => forward((reporter) => reporter.trialStarted?.(trial)),
    trialEnded: (trial) => forward((reporter) => reporter.trialEnded?.(trial)),
    note: (note) => forward((reporter) => reporter.note?.(note)),
    async runEnded(run) {
      for (const [name, reporter] of working)
        try {
          await reporter.runEnded?.(run)
        } catch (error) {
          broken(name, error)
        }
    },
    problems: () => problems,
  }
}
