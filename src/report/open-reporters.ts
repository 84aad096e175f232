import { join, relative, resolve, sep } from 'node:path'
import { GantryError } from '../core/error.ts'
import { appendOutput, fileOutput, processOutput } from '../io/file-output.ts'
import { withAncestors } from '../io/path-below.ts'
import { isFile, pathKind } from '../io/path-kind.ts'
import { type TerminalOutlet, terminalContext } from './console/display.ts'
import type { Reporter, ReporterContext, Sink } from './contract.ts'
import type { ReporterDefinition } from './define-reporter.ts'
import { openReporter, parseReporterSpec, type ReporterSpec, sharesOutput } from './index.ts'

export interface ReportOutlet extends TerminalOutlet {
  readonly cwd: string
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

/** What a caller of the library passes in: names as in `--reporter`, reporters of the user, or functions that listen. */
export async function openReportersOf(
  given: readonly (string | ReporterDefinition | Reporter)[],
  place: Pick<ReportOutlet, 'env' | 'cwd'>,
): Promise<ComposedReporter> {
  const specs = given.map((reporter, index): ReporterSpec => {
    if (typeof reporter === 'string') return parseReporterSpec(reporter)
    if ('open' in reporter) return { name: reporter.name, path: null, own: reporter }
    const name = `reporters[${index}]`
    return { name, path: null, own: { name, open: () => reporter } }
  })
  return openReporters(specs, { ...place, stdout: processOutput(process.stdout) })
}

async function openOne({ name, path, own }: ReporterSpec, outlet: ReportOutlet): Promise<Reporter> {
  if (name === 'github') return openGithub(path, outlet)
  const open = await openerOf(name, own, outlet.cwd)
  if (path === null) return open(terminalContext(outlet))
  const absolute = resolve(outlet.cwd, path)
  if (name === 'blob') return open({ ...terminalContext(outlet), path: absolute })
  return intoFile(absolute, (sink) => open({ sink, color: false, columns: 80, live: false, path: absolute }))
}

type Opener = (context: ReporterContext) => Promise<Reporter>

async function openerOf(name: string, own: ReporterSpec['own'], cwd: string): Promise<Opener> {
  if (own === undefined) return (context) => openReporter(name, context)
  // Loaded only for a run that uses it.
  const { loadReporter, openOwnReporter } = await import('./define-reporter.ts')
  const definition = typeof own === 'string' ? await loadReporter(own, cwd) : own
  return (context) => openOwnReporter(definition, context)
}

/** Annotations only work in the job's log; a path is for the summary. */
async function openGithub(path: string | null, outlet: ReportOutlet): Promise<Reporter> {
  const context = { ...terminalContext(outlet), repositoryPath: repositoryPath(outlet) }
  if (path !== null)
    return intoFile(resolve(outlet.cwd, path), (summarySink) =>
      openReporter('github', { ...context, summarySink }),
    )
  const stepSummary = outlet.env.GITHUB_STEP_SUMMARY ?? ''
  const summary = stepSummary === '' ? {} : { summarySink: appendOutput(stepSummary) }
  return openReporter('github', { ...context, ...summary })
}

/** The project of a run is at its working directory or above it. */
function repositoryPath({ cwd, env }: ReportOutlet): (file: string) => string {
  const top = env.GITHUB_WORKSPACE || withAncestors(cwd).find((dir) => pathKind(join(dir, '.git')) !== null)
  return (file) => {
    const project = withAncestors(cwd).find((dir) => isFile(join(dir, file)))
    if (project === undefined || top === undefined) return file
    const path = relative(top, join(project, file))
    return path.startsWith('..') ? file : path.split(sep).join('/')
  }
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

/** Throws GantryError USAGE when two of them would mix on standard output. */
export function refuseMixing(specs: readonly ReporterSpec[]): void {
  const shown = specs.filter(({ path }) => path === null)
  const onStdout = shown.map(({ name }) => name)
  const alone = shown.find((spec) => !sharesOutput(spec))?.name
  const clash = onStdout.length > 1 && (alone !== undefined || new Set(onStdout).size < onStdout.length)
  if (!clash) return
  const name = alone ?? onStdout[0] ?? 'console'
  throw new GantryError('USAGE', `The reporters ${onStdout.join(' and ')} would mix on standard output.`, {
    hint: `Send one of them to a file: ${name}:PATH`,
  })
}

function labelOf({ name, path }: ReporterSpec, taken: Readonly<Record<string, Reporter>>): string {
  const label = path === null ? name : `${name}:${path}`
  if (!Object.hasOwn(taken, label)) return label
  throw new GantryError('USAGE', `The reporter ${label} is named twice.`, {
    hint: 'Name each reporter once.',
  })
}

/** A reporter that failed: its name as in `--reporter`, and why. */
export interface ReporterProblem {
  readonly name: string
  readonly error: unknown
}

export interface ComposedReporter extends Required<Reporter> {
  runEnded(...args: Parameters<NonNullable<Reporter['runEnded']>>): Promise<void>
  /** Complete once `runEnded` has settled. The caller shows them to the user. */
  problems(): readonly ReporterProblem[]
}

/**
 * Forwards every call to all reporters. A reporter that throws does not stop the others or the run: it is skipped from then on,
 * and its error is kept. `runEnded` is called one by one, so that two reporters on one terminal do not mix.
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
