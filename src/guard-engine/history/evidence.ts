import type { DeclaredCommand, EventEntry, EvidenceHistory, Fold, Note } from '../contract.ts'
import { notesOf } from './notes-of.ts'

const maxKnown = 200
const maxCommands = 200

/** What the commands of the project are known to have proved. Nothing is ever reset: evidence is bound to its tree. */
export const evidenceFold: Fold<EvidenceHistory> = {
  initial: { byCommand: {}, rejected: {}, tests: null, testsGreen: false },
  apply: (state, entry) =>
    entry.kind === 'event' ? afterEvent(state, entry) : notesOf(entry).reduce(afterNote, state),
}

function afterEvent(state: EvidenceHistory, { event }: EventEntry): EvidenceHistory {
  const now = event.facts.project?.commands
  if (now === undefined) return state
  const isNew = event.kind === 'session_start' && event.source === 'startup'
  const known = union(isNew ? [] : (state.known ?? []), now)
  return { ...state, known }
}

function afterNote(state: EvidenceHistory, note: Note): EvidenceHistory {
  switch (note.kind) {
    case 'evidence': {
      const { command } = note.evidence
      return {
        ...state,
        byCommand: newest(state.byCommand, command, { ...note.evidence, by: note.by }),
        rejected: without(state.rejected, command),
      }
    }
    case 'no_evidence':
      return { ...state, rejected: newest(state.rejected, note.command, note.why) }
    case 'tests_seen':
      return { ...state, tests: note.inventory, testsGreen: note.green }
    default:
      return state
  }
}

function newest<Value>(
  all: Readonly<Record<string, Value>>,
  key: string,
  value: Value,
): Readonly<Record<string, Value>> {
  const kept = Object.entries(all).filter(([name]) => name !== key)
  return Object.fromEntries([...kept.slice(1 - maxCommands), [key, value]])
}

function without(all: Readonly<Record<string, string>>, key: string): Readonly<Record<string, string>> {
  if (!Object.hasOwn(all, key)) return all
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== key))
}

function union(old: readonly DeclaredCommand[], now: readonly DeclaredCommand[]): readonly DeclaredCommand[] {
  const texts = new Set(now.map(({ command }) => command))
  return [...now, ...old.filter(({ command }) => !texts.has(command))].slice(0, maxKnown)
}
