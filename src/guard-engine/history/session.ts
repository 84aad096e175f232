import type { DeclaredCommand, EventEntry, Fold, LedgerEntry, Note, SessionHistory } from '../contract.ts'
import { settingsSource } from '../project/declaring-files.ts'

const maxDeclared = 200
const maxWarned = 200

/** The session itself: when it began, what it was told, what was declared at its start. */
export const sessionFold: Fold<SessionHistory> = {
  initial: {
    id: null,
    startedAt: null,
    latestMs: 0,
    contextInjected: false,
    compactedAt: null,
    relay: null,
    declared: [],
    entries: 0,
    warned: [],
  },
  apply: (state, entry) => {
    const counted = { ...state, entries: state.entries + 1 }
    if (entry.kind === 'event') return afterEvent(counted, entry)
    const noted = notesOf(entry).reduce(afterNote, counted)
    return toldContext(entry) ? { ...noted, contextInjected: true } : noted
  },
}

function afterEvent(state: SessionHistory, entry: EventEntry): SessionHistory {
  const { event, at } = entry
  const ms = Date.parse(at)
  const next: SessionHistory = {
    ...state,
    id: state.id ?? event.session,
    startedAt: state.startedAt ?? at,
    latestMs: Number.isNaN(ms) ? state.latestMs : Math.max(state.latestMs, ms),
  }
  switch (event.kind) {
    case 'session_start':
      return afterStart(next, entry)
    case 'compact_before':
      return { ...next, compactedAt: at }
    // The state has moved on: what was saved before would be wrong after the next compaction.
    case 'prompt':
    case 'tool_before':
      return next.relay === null ? next : { ...next, relay: null }
    default:
      return next
  }
}

/**
 * A compaction goes on with the same work: nothing is forgotten. After every other start the time begins again, and what was
 * said once may be said once more. Evidence needs no reset anywhere: it is bound to its tree.
 */
function afterStart(state: SessionHistory, { event, at }: EventEntry): SessionHistory {
  const declared = declaredAfter(state.declared, event)
  if (event.source === 'compact') return { ...state, declared, compactedAt: at }
  const startedAt = state.latestMs > 0 ? new Date(state.latestMs).toISOString() : at
  return { ...state, declared, startedAt, relay: null, warned: [], contextInjected: false }
}

/**
 * What files of the project declared stays declared until a new session: the agent can change these files. Settings it
 * cannot change, so what they no longer declare is gone.
 */
function declaredAfter(
  old: readonly DeclaredCommand[],
  { source, facts }: EventEntry['event'],
): readonly DeclaredCommand[] {
  const now = facts.project?.commands
  if (now === undefined) return old
  if (source === 'startup') return now.slice(0, maxDeclared)
  const kept = old.filter((one) => one.source !== settingsSource)
  const known = new Set(now.map(({ command }) => command))
  return [...now, ...kept.filter(({ command }) => !known.has(command))].slice(0, maxDeclared)
}

function afterNote(state: SessionHistory, note: Note): SessionHistory {
  if (note.kind === 'relay') return { ...state, relay: note.text }
  if (note.kind !== 'warned' || state.warned.includes(note.about)) return state
  return { ...state, warned: [...state.warned, note.about].slice(-maxWarned) }
}

function notesOf(entry: LedgerEntry): readonly Note[] {
  if (entry.kind === 'note') return [entry.note]
  return entry.kind === 'decision' ? entry.notes : []
}

/** By the name of the rule: a decision does not tell which event it answers, only whose entry it is. */
function toldContext(entry: LedgerEntry): boolean {
  return (
    entry.kind === 'decision' &&
    entry.context !== null &&
    entry.findings.some(({ rule }) => rule === 'inject-context')
  )
}
