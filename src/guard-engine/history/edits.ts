import type { EditHistory, EventEntry, FileEdits, Fold, Note, StoredCall } from '../contract.ts'
import type { Settings } from '../settings/settings.ts'
import { isEditing } from '../store-event.ts'
import { isGreenRun, notesOf } from './gate.ts'

const maxContents = 24
const initial: EditHistory = { files: {}, byAgent: {} }
const noEdits: FileEdits = { count: 0, sinceTask: 0, sinceGreen: 0, contents: [] }

/** How often files were edited, and what was in them after each edit. */
export const editFold: Fold<EditHistory> = editFoldOn((record) => ({ ...record }))

/**
 * The same fold for a reader that takes one line after another and shows only the latest state: it copies a record once and then writes to
 * the copy, because a copy for every line takes longer the more files were edited. Nothing else uses the records of `own`.
 */
export function growingEditFold(own: EditHistory): Fold<EditHistory> {
  const owned = new WeakSet<object>(own === initial ? [] : [own.files, own.byAgent])
  return editFoldOn((record) => {
    if (owned.has(record)) return record
    const copy = { ...record }
    owned.add(copy)
    return copy
  })
}

/** Returns a record that may be written to. */
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
        event.kind === 'tool_after' && call !== undefined
          ? afterFailing(afterCall(state, entry, call, writable), call)
          : state,
        entry,
      )
    },
  }
}

/** The edits of a file as the settings count them: `edit-tracker.json` shows these. */
export function editCount(
  { count, sinceTask }: FileEdits,
  { resetOnNewTask }: Settings['loopDetection'],
): number {
  return resetOnNewTask ? sinceTask : count
}

function afterCall(
  state: EditHistory,
  { event }: EventEntry,
  call: StoredCall,
  writable: Writable,
): EditHistory {
  const edited = event.facts.edited ?? []
  const counts = isEditing(call.action) && call.outcome?.kind !== 'failure'
  if (!counts && edited.length === 0) return state
  const files = writable(state.files)
  for (const { path, hash } of edited) {
    const before = files[path] ?? noEdits
    files[path] = { ...before, contents: [...before.contents.slice(1 - maxContents), hash] }
  }
  if (!counts) return { ...state, files }
  for (const path of call.paths) {
    const { count, sinceTask, sinceGreen, contents } = files[path] ?? noEdits
    files[path] = { count: count + 1, sinceTask: sinceTask + 1, sinceGreen: sinceGreen + 1, contents }
  }
  const byAgent = writable(state.byAgent)
  const agent = event.agentId ?? 'main'
  byAgent[agent] = (byAgent[agent] ?? 0) + 1
  return { ...state, files, byAgent }
}

/** The edit that ends a task, by ticking it off, still belongs to it. */
function atTask(state: EditHistory, { event }: EventEntry): EditHistory {
  const plan = event.facts.project?.plan
  if (plan === undefined || plan === null) return state
  const task = plan.open[0] ?? null
  if (state.task === task) return state
  if (state.task === undefined) return { ...state, task }
  return { ...state, task, files: mapFiles(state.files, (file) => ({ ...file, sinceTask: 0 })) }
}

/** Green tests are progress: what led there was no loop. */
function afterGreen(state: EditHistory): EditHistory {
  return { ...state, files: mapFiles(state.files, (file) => ({ ...file, sinceGreen: 0, contents: [] })) }
}

/** So are fewer failed tests than ever before. */
function afterFailing(state: EditHistory, { outcome }: StoredCall): EditHistory {
  const failing = outcome?.failing
  if (failing === undefined) return state
  const { fewestFailing = failing } = state
  const progressed = failing < fewestFailing ? afterGreen(state) : state
  const fewest = Math.min(failing, fewestFailing)
  return fewest === progressed.fewestFailing ? progressed : { ...progressed, fewestFailing: fewest }
}

function mapFiles(files: EditHistory['files'], change: (file: FileEdits) => FileEdits): EditHistory['files'] {
  return Object.fromEntries(Object.entries(files).map(([path, file]) => [path, change(file)]))
}

function isGreen(note: Note): boolean {
  if (note.kind !== 'evidence') return false
  const { kind } = note.evidence
  return (kind === 'test' || kind === 'other') && isGreenRun(note.evidence)
}
