import { resolve } from 'node:path'
import { Command } from 'commander'
import { parseDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { systemClock } from '../../io/clock.ts'
import { isFile } from '../../io/path-kind.ts'
import type { CliContext } from '../context.ts'

/** `given` sets the trace and the ledgers of sessions (default: those of the project around the working directory). */
export function traceCommand(context: CliContext, given?: TraceSources): Command {
  return new Command('trace')
    .description(
      'Report what a guarded agent did: calls, hot files, loops, verification runs, failures, time, refusals.',
    )
    .argument('[file]', "a trace log or a ledger; default: the project's .harness/trace-log.jsonl")
    .option('--session <id>', "read the ledger of a session; 'latest' is the newest of this project")
    .option('--since <when>', 'only what is newer: an age such as 90m or 2d, or a date')
    .option('--html <file>', 'write the report as one page with a timeline')
    .option('--json', 'print JSON and nothing else on standard output')
    .action((file: string | undefined, flags: TraceFlags) =>
      printTrace(file, flags, given ?? projectSources, context),
    )
}

interface TraceFlags {
  readonly session?: string
  readonly since?: string
  readonly html?: string
  readonly json?: boolean
}

export interface TraceSources {
  /** The state directory of the project and the threshold from its settings. */
  project(context: CliContext): Promise<{ readonly stateDir: string; readonly editThreshold: number }>
  /** The file of a session's ledger, `latest` included; null when there is none. */
  sessionLedgerPath(session: string, context: CliContext): Promise<string | null>
}

async function printTrace(
  file: string | undefined,
  flags: TraceFlags,
  sources: TraceSources,
  context: CliContext,
): Promise<void> {
  const { readTrace } = await import('../../guard/trace/read-trace.ts')
  const { traceHtml } = await import('../../guard/trace/trace-html.ts')
  const { traceText } = await import('../../guard/trace/trace-text.ts')
  const { writeFileAtomic } = await import('../../io/files.ts')
  const { stateDir, editThreshold } = await sources.project(context)
  const files = await filesOf(file, flags, stateDir, sources, context)
  const sinceMs = flags.since === undefined ? undefined : timeOfFlag(flags.since)
  const report = await readTrace({ files, editThreshold, ...(sinceMs !== undefined && { sinceMs }) })
  const { stdout, cwd } = context
  if (flags.html !== undefined) writeFileAtomic(resolve(cwd, flags.html), traceHtml(report))
  if (flags.json === true) {
    stdout.write(`${JSON.stringify(report)}\n`)
    return
  }
  const tableWidth = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY
  stdout.write(traceText(report, { columns: stdout.columns, tableWidth, color: stdout.color }))
  if (flags.html !== undefined) stdout.write(`\nWrote ${flags.html}\n`)
}

async function filesOf(
  file: string | undefined,
  { session }: TraceFlags,
  stateDir: string,
  sources: TraceSources,
  context: CliContext,
): Promise<readonly string[]> {
  const { traceLogPaths } = await import('../../guard-engine/views/trace-log.ts')
  if (file !== undefined && session !== undefined)
    throw new GantryError('USAGE', 'a file and --session cannot both be read', {
      hint: 'Use only one of them.',
    })
  if (file !== undefined) return [resolve(context.cwd, file)]
  if (session !== undefined) {
    const ledger = await sources.sessionLedgerPath(session, context)
    if (ledger !== null) return [ledger]
    if (session === 'latest')
      throw new GantryError('NOT_FOUND', 'the guard has recorded no session of this project', {
        hint: "Run 'gantry guard status' to see whether its hooks are installed.",
      })
    throw new GantryError('NOT_FOUND', `there is no session ${JSON.stringify(session)} of this project`, {
      hint: "Use 'latest' for the newest one.",
    })
  }
  const paths = traceLogPaths(stateDir)
  const there = paths.filter(isFile)
  // If there is none, its usual name is shown.
  return there.length > 0 ? there : paths.slice(-1)
}

function timeOfFlag(text: string): number {
  const ageMs = parseDuration(text)
  if (ageMs !== null) return systemClock.now().getTime() - ageMs
  const atMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(atMs)) return atMs
  throw new GantryError('USAGE', `--since ${JSON.stringify(text)} is neither an age nor a date`, {
    hint: 'Write 90m, 12h or 2d, or a date such as 2026-02-19 or 2026-02-19T10:00:00Z.',
  })
}

/** The project around the working directory. Broken settings do not prevent reading its trace. */
const projectSources: TraceSources = {
  project: async ({ cwd, env }) => {
    const { findRoot, guardHome } = await import('../../guard-engine/ledger/ledger-place.ts')
    const { settingsInForce } = await import('../../guard-engine/settings/settings-in-force.ts')
    const { stateDirectory } = await import('../../guard-engine/views/state-directory.ts')
    const root = findRoot(cwd)
    const { settings } = await settingsInForce({ root, env, userDir: guardHome(env) })
    const state = stateDirectory(root, settings.state.dir)
    return {
      // The directory may still have traces from before it became unusable.
      stateDir: state.kind === 'usable' ? state.path : resolve(root, settings.state.dir),
      editThreshold: settings.loopDetection.editThreshold,
    }
  },
  sessionLedgerPath: async (session, { cwd, env }) => {
    const { newestSessions } = await import('../../guard-engine/ledger/read-ledger.ts')
    const { findRoot, guardHome, ledgerPlace } = await import('../../guard-engine/ledger/ledger-place.ts')
    const root = findRoot(cwd)
    const home = guardHome(env)
    if (session === 'latest') return newestSessions(home, root)[0] ?? null
    const { session: path } = ledgerPlace(home, root, session)
    return isFile(path) ? path : null
  },
}
