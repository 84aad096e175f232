import { basename, dirname, join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { explain, explainEvidence } from '../../guard/explain.ts'
import { readTrace } from '../../guard/trace/read-trace.ts'
import type {
  DecisionEntry,
  EventEntry,
  LedgerEntry,
  LedgerEvent,
  Note,
  NoteEntry,
} from '../../guard-engine/contract.ts'
import { notesOf } from '../../guard-engine/history/gate.ts'
import { growHistory, historyFold } from '../../guard-engine/history/index.ts'
import { allLedgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { defaultSettings } from '../../guard-engine/settings/settings.ts'
import { fileStamp, modifiedAtMs } from '../../io/directory.ts'
import { isFile } from '../../io/path-kind.ts'
import type { Store } from '../../store/contract.ts'
import { openRun } from '../../store/open-run.ts'
import { ok } from '../answer.ts'
import type { Handlers } from '../routes.ts'
import type { GuardMoment, GuardSessionRow, guardRoutes } from './guard-routes.ts'

const momentsMax = 5_000
const rowsKept = 2_000

/** Sessions of guarded agents, from the ledgers of the guard and those of trials with a guard. */
export function guardHandlers(guardHome: string, store: Store): Pick<Handlers, keyof typeof guardRoutes> {
  /** Rows with the stamp of their ledger. */
  const kept = new Map<string, { readonly stamp: string; readonly row: GuardSessionRow | null }>()
  const rowAt = (path: string): GuardSessionRow | null => {
    const stamp = fileStamp(path)
    const before = kept.get(path)
    if (before?.stamp === stamp) return before.row
    const row = rowOf(path, readLedger(guardHome, path).entries)
    if (kept.size >= rowsKept) kept.clear()
    kept.set(path, { stamp, row })
    return row
  }
  return {
    guardSessions: ({ query: { limit } }) => {
      const paths = sessionLedgers(guardHome).map((path) => ({ path, at: modifiedAtMs(path) ?? 0 }))
      paths.sort((a, b) => b.at - a.at)
      const sessions = paths.slice(0, limit).flatMap(({ path }) => rowAt(path) ?? [])
      return ok({ sessions, total: paths.length })
    },
    guardSession: async ({ session }) => {
      const { home, path } = ledgerOf(guardHome, store, session)
      const { row, all, moments, damaged } = readSession(home, path)
      if (row === null) throw unknown(session)
      const { editThreshold } = defaultSettings.loopDetection
      return ok({
        row: { ...row, id: session },
        moments: moments.slice(-momentsMax),
        left_out: Math.max(0, moments.length - momentsMax),
        evidence: evidenceOf(all, row),
        report: await readTrace({ files: [path], editThreshold }),
        ledger: path,
        damaged,
      })
    },
    guardDecision: ({ session, query: { id } }) => {
      const { home, path } = ledgerOf(guardHome, store, session)
      return ok(explain({ guardHome: home, root: '', wanted: id, ledger: path }))
    },
  }
}

function sessionLedgers(home: string): readonly string[] {
  return allLedgerFiles(home).filter((path) => basename(dirname(path)) === 'sessions')
}

/** What the guard did in a trial of an arm that has one. */
export function guardOfTrial({ dir, run, trial }: { readonly dir: string; run: string; trial: string }) {
  const home = join(dir, 'guard')
  return sessionLedgers(home).flatMap((path) => {
    const { row, moments } = readSession(home, path)
    return row === null
      ? []
      : [{ row: { ...row, id: `${run}~${trial}~${row.id}` }, moments: moments.slice(-momentsMax) }]
  })
}

function readSession(home: string, path: string) {
  const { entries, tampered, torn } = readLedger(home, path)
  const row = rowOf(path, entries)
  const notes = readLedger(home, join(dirname(dirname(path)), 'project.jsonl')).entries
  const all = [...notes, ...entries].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  const moments =
    row === null ? [] : momentsOf(all.filter(({ at }) => at >= row.started_at && at <= row.last_at))
  return { row, all, moments, damaged: tampered + torn }
}

function unknown(session: string): GantryError {
  return new GantryError('NOT_FOUND', `there is no guarded session ${JSON.stringify(session.slice(0, 100))}`)
}

/** An id is the names of the project's directory and of the ledger in it, after those of a run and a trial if it is of one. */
function ledgerOf(guardHome: string, store: Store, session: string) {
  const [, run, trial, project, name] = /^(?:([\w-]+)~([\w.-]+)~)?([\w-]+)~([\w-]+)$/.exec(session) ?? []
  if (project === undefined) throw unknown(session)
  const home =
    run === undefined || trial === undefined ? guardHome : join(openRun(store, run).trialDir(trial), 'guard')
  const path = join(home, 'projects', project, 'sessions', `${name}.jsonl`)
  if (!isFile(path)) throw unknown(session)
  return { home, path }
}

/** null for a ledger without events. */
function rowOf(path: string, entries: readonly LedgerEntry[]): GuardSessionRow | null {
  const events = entries.filter((entry) => entry.kind === 'event')
  const decisions = entries.filter((entry) => entry.kind === 'decision')
  const [first] = events
  if (first === undefined) return null
  const ended = decisions.flatMap(({ notes }) => notes.filter((note) => note.kind === 'ended')).at(-1)
  const calls = events.filter(({ event: { kind } }) => kind === 'tool_after' || kind === 'tool_denied')
  const denials = decisions.filter(({ verdict }) => verdict === 'deny').length
  return {
    id: `${basename(dirname(dirname(path)))}~${basename(path, '.jsonl')}`,
    session: first.event.session,
    directory: first.event.cwd,
    agent: first.event.agent,
    started_at: first.at,
    last_at: entries.at(-1)?.at ?? first.at,
    calls: calls.length + denials,
    denials,
    refusals: decisions.filter(({ verdict }) => verdict === 'refuse').length,
    end: ended?.state ?? null,
    end_why: ended?.why ?? null,
  }
}

/** What happened, in order. A call that ran is one moment: its beginning is left out when its end is there. */
function momentsOf(entries: readonly LedgerEntry[]): GuardMoment[] {
  const decisions = new Map(
    entries.flatMap((entry) => (entry.kind === 'decision' ? [[entry.of, entry] as const] : [])),
  )
  const isEnded = new Set(
    entries.flatMap((entry) =>
      entry.kind === 'event' && entry.event.kind === 'tool_after' ? [callKey(entry)] : [],
    ),
  )
  return entries.flatMap((entry): GuardMoment[] => {
    if (entry.kind === 'decision') return []
    if (entry.kind === 'note') return [momentOf(entry, null, undefined)]
    const decision = decisions.get(entry.id)
    const isPlain = (decision?.verdict ?? 'pass') === 'pass' && (decision?.findings ?? []).length === 0
    const isRepeated = entry.event.kind === 'tool_before' && isPlain && isEnded.has(callKey(entry))
    return isRepeated ? [] : [momentOf(entry, entry.event, decision)]
  })
}

function callKey({ event }: EventEntry): string {
  return event.call?.id ?? event.call?.signature ?? ''
}

/** `event` is null for a note of a person or a command. */
function momentOf(
  entry: EventEntry | NoteEntry,
  event: LedgerEvent | null,
  decision: DecisionEntry | undefined,
): GuardMoment {
  const { kind = 'note', call, text, source } = event ?? {}
  const isDenied = decision?.verdict === 'deny' || kind === 'tool_denied'
  return {
    id: entry.id,
    at: entry.at,
    kind,
    agent_id: event?.agentId ?? null,
    tool: call?.tool ?? null,
    call_id: call?.id ?? null,
    title:
      entry.kind === 'note'
        ? noteText(entry.note)
        : (call?.command ?? call?.paths.join(' ') ?? text ?? source ?? ''),
    result: isDenied ? 'denied' : (call?.outcome?.kind ?? null),
    exit_code: call?.outcome?.exitCode ?? null,
    duration_ms: call?.outcome?.durationMs ?? null,
    verdict: decision?.verdict ?? 'pass',
    reason: decision?.reason ?? null,
    notice: decision?.notice ?? null,
    rules: (decision?.findings ?? []).map(({ rule }) => rule),
    notes: (decision?.notes ?? []).map(noteText),
    decision: decision?.id ?? null,
  }
}

function noteText(note: Note): string {
  switch (note.kind) {
    case 'evidence': {
      const { command, exitCode, executed } = note.evidence
      const tests = executed === undefined ? '' : `, ${executed} tests`
      return `${command} ended with exit code ${exitCode}${tests} (seen by ${note.by})`
    }
    case 'no_evidence':
      return `${note.command} proves nothing: ${note.why}`
    case 'refused_stop':
      return `not done: ${note.blockers.join('; ')}`
    case 'ended':
      return `${note.state}: ${note.why}`
    case 'warned':
      return `warned about ${note.about}`
    case 'ticked':
      return `task done: ${note.plan.done} of ${note.plan.total}`
    case 'unlocked':
      return `unlocked by ${note.by} until ${new Date(note.untilMs).toISOString()}`
    case 'waived':
      return `waived by ${note.by}: ${note.why}`
    case 'changes_seen':
      return `${note.by} has seen the changes of protected files`
    case 'changes_made':
      return `protected files were changed: ${note.changes.map(({ path }) => path).join(', ')}`
    default:
      return note.kind.replaceAll('_', ' ')
  }
}

/** The status of each command, where it changed. Before files are looked at again, an edit makes evidence stale. */
function evidenceOf(entries: readonly LedgerEntry[], { started_at, last_at }: GuardSessionRow) {
  const { edits: _, ...initial } = historyFold.initial
  const growing = growHistory(initial, () => structuredClone(historyFold.initial.edits))
  const found = new Map<string, { at: string; status: string }[]>()
  let tree: string | null = null
  for (const entry of entries) {
    if (entry.at > last_at) break
    growing.take(entry)
    const before: string | null = tree
    if (entry.kind === 'event') {
      const { facts } = entry.event
      if (facts.tree != null) ({ tree } = facts)
      // No run was made on the edited tree, whatever its hash is.
      else if ((facts.edited ?? []).length > 0) tree = ''
    }
    const isNews = notesOf(entry).some(({ kind }) => kind === 'evidence' || kind === 'no_evidence')
    if (entry.at < started_at || (!isNews && tree === before)) continue
    for (const { command, status } of explainEvidence(tree, growing.history)) {
      const points = found.get(command) ?? []
      if (points.at(-1)?.status !== status) found.set(command, [...points, { at: entry.at, status }])
    }
  }
  return [...found].map(([command, points]) => ({ command, points }))
}
