import type { EditedFile, EditHistory, EventEntry, Fold, Note, StoredCall } from '../contract.ts'
import type { Settings } from '../settings/settings.ts'
import { notesOf } from './gate.ts'

const maxContents = 24
const noEdits: Readonly<Record<string, number>> = {}
const initial: EditHistory = { counts: noEdits, contents: {}, byAgent: noEdits }

/** How often files were edited, and what was in them after each edit. */
export const editFold: Fold<EditHistory> = editFoldOn((record) => ({ ...record }))

/**
 * The same for one reader that folds line after line and hands out only what it has by then: a record it has copied once is
 * written to from then on, where a copy for every line would take longer the more files were edited. The records of `own` are
 * nobody else's.
 */
export function growingEditFold(own: EditHistory): Fold<EditHistory> {
  const { counts, sinceTask = {}, sinceGreen = {}, contents, byAgent } = own
  const owned = new WeakSet<object>(own === initial ? [] : [counts, sinceTask, sinceGreen, contents, byAgent])
  return editFoldOn((record) => {
    if (owned.has(record)) return record
    const copy = { ...record }
    owned.add(copy)
    return copy
  })
}

/** `writable` makes of a record one that may be written to. */
type Writable = <Value>(record: Readonly<Record<string, Value>>) => Record<string, Value>

function editFoldOn(writable: Writable): Fold<EditHistory> {
  return {
    initial,
    apply: (state, entry) => {
      if (entry.kind !== 'event') return notesOf(entry).some(isGreen) ? afterGreen(state) : state
      const { event } = entry
      if (event.kind === 'session_start' && (event.source === 'startup' || event.source === 'clear'))
        return atTask(initial, entry)
      const { call } = event
      return atTask(
        event.kind === 'tool_after' && call !== undefined ? afterCall(state, entry, call, writable) : state,
        entry,
      )
    },
  }
}

/** Edits per absolute path as the settings count them: `edit-tracker.json` shows these. */
export function editCounts(
  edits: EditHistory,
  { resetOnNewTask }: Settings['loopDetection'],
): Readonly<Record<string, number>> {
  return resetOnNewTask ? (edits.sinceTask ?? noEdits) : edits.counts
}

function afterCall(
  state: EditHistory,
  { event }: EventEntry,
  call: StoredCall,
  writable: Writable,
): EditHistory {
  const contents = withContents(state.contents, event.facts.edited ?? [], writable)
  const isEdit = call.action === 'write' || call.action === 'edit' || call.action === 'patch'
  if (!isEdit || call.outcome?.kind === 'failure')
    return contents === state.contents ? state : { ...state, contents }
  return {
    ...state,
    counts: oneMore(writable(state.counts), call.paths),
    sinceTask: oneMore(writable(state.sinceTask ?? noEdits), call.paths),
    sinceGreen: oneMore(writable(state.sinceGreen ?? noEdits), call.paths),
    contents,
    byAgent: oneMore(writable(state.byAgent), [event.agentId ?? 'main']),
  }
}

/** The edit that ends a task, by ticking it off, still belongs to it. */
function atTask(state: EditHistory, { event }: EventEntry): EditHistory {
  const plan = event.facts.project?.plan
  if (plan === undefined || plan === null) return state
  const task = plan.open[0] ?? null
  if (state.task === task) return state
  return state.task === undefined ? { ...state, task } : { ...state, task, sinceTask: noEdits }
}

/** Green tests are progress: what led there was no loop. */
function afterGreen(state: EditHistory): EditHistory {
  return { ...state, sinceGreen: noEdits, contents: {} }
}

function isGreen(note: Note): boolean {
  if (note.kind !== 'evidence') return false
  const { kind, exitCode, executed, skipped = 0 } = note.evidence
  const ranSomething = executed === undefined || executed > skipped
  return (kind === 'test' || kind === 'other') && exitCode === 0 && ranSomething
}

function oneMore(counts: Record<string, number>, names: readonly string[]): Record<string, number> {
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

function withContents(
  contents: EditHistory['contents'],
  edited: readonly EditedFile[],
  writable: Writable,
): EditHistory['contents'] {
  if (edited.length === 0) return contents
  const next = writable(contents)
  for (const { path, hash } of edited) next[path] = [...(next[path] ?? []).slice(1 - maxContents), hash]
  return next
}
