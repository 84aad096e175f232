import { resolve } from 'node:path'
import { parseDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { readTrace } from '../../guard/trace/read-trace.ts'
import { traceHtml } from '../../guard/trace/trace-html.ts'
import { traceText } from '../../guard/trace/trace-text.ts'
import { traceLogPaths } from '../../guard-engine/views/trace-log.ts'
import { systemClock } from '../../io/clock.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import type { CliContext } from '../context.ts'

export interface TraceFlags {
  readonly session?: string
  readonly since?: string
  readonly html?: string
  readonly json?: boolean
}

export interface TraceSources {
  /** The state directory of the project and the threshold its settings have. */
  project(context: CliContext): Promise<{ readonly stateDir: string; readonly editThreshold: number }>
  /** The file of a session's ledger, `latest` included; null when there is none. */
  sessionLedgerPath(session: string, context: CliContext): Promise<string | null>
}

export async function showTrace(
  file: string | undefined,
  flags: TraceFlags,
  sources: TraceSources,
  context: CliContext,
): Promise<void> {
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
  if (file !== undefined && session !== undefined)
    throw new GantryError('USAGE', 'a file and --session cannot both be read', {
      hint: 'Leave one of them out.',
    })
  if (file !== undefined) return [resolve(context.cwd, file)]
  if (session !== undefined) {
    const ledger = await sources.sessionLedgerPath(session, context)
    if (ledger !== null) return [ledger]
    throw new GantryError('NOT_FOUND', `there is no session ${JSON.stringify(session)} of this project`, {
      hint: "Write 'latest' for the newest one.",
    })
  }
  const paths = traceLogPaths(stateDir)
  const there = paths.filter(isFile)
  // With none there, the name of the newest is what the reader knows.
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
