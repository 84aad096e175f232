import type {
  EditedFile,
  EditHistory,
  EventEntry,
  Fold,
  LedgerEntry,
  Note,
  Settings,
  StoredCall,
} from '../contract.ts'

const maxContents = 24
const noEdits: Readonly<Record<string, number>> = {}

/** How often files were edited, and what was in them after each edit. */
export const editFold: Fold<EditHistory> = {
  initial: { counts: noEdits, contents: {}, byAgent: noEdits },
  apply: (state, entry) => {
    if (entry.kind !== 'event') return notesOf(entry).some(isGreen) ? afterGreen(state) : state
    const { event } = entry
    if (event.kind === 'session_start' && (event.source === 'startup' || event.source === 'clear'))
      return atTask(editFold.initial, entry)
    const { call } = event
    return atTask(
      event.kind === 'tool_after' && call !== undefined ? afterCall(state, entry, call) : state,
      entry,
    )
  },
}

/** Edits per absolute path as the settings count them: `edit-tracker.json` shows these. */
export function editCounts(
  edits: EditHistory,
  { resetOnNewTask }: Settings['loopDetection'],
): Readonly<Record<string, number>> {
  return resetOnNewTask ? (edits.sinceTask ?? noEdits) : edits.counts
}

function afterCall(state: EditHistory, { event }: EventEntry, call: StoredCall): EditHistory {
  const contents = withContents(state.contents, event.facts.edited ?? [])
  const isEdit = call.action === 'write' || call.action === 'edit' || call.action === 'patch'
  if (!isEdit || call.outcome?.kind === 'failure')
    return contents === state.contents ? state : { ...state, contents }
  return {
    ...state,
    counts: withOneMore(state.counts, call.paths),
    sinceTask: withOneMore(state.sinceTask ?? noEdits, call.paths),
    sinceGreen: withOneMore(state.sinceGreen ?? noEdits, call.paths),
    contents,
    byAgent: withOneMore(state.byAgent, [event.agentId ?? 'main']),
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

function notesOf(entry: Exclude<LedgerEntry, EventEntry>): readonly Note[] {
  return entry.kind === 'decision' ? entry.notes : [entry.note]
}

function isGreen(note: Note): boolean {
  if (note.kind !== 'evidence') return false
  const { kind, exitCode, executed, skipped = 0 } = note.evidence
  const ranSomething = executed === undefined || executed > skipped
  return (kind === 'test' || kind === 'other') && exitCode === 0 && ranSomething
}

function withOneMore(
  counts: Readonly<Record<string, number>>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  const next = { ...counts }
  for (const name of names) next[name] = (next[name] ?? 0) + 1
  return next
}

function withContents(
  contents: EditHistory['contents'],
  edited: readonly EditedFile[],
): EditHistory['contents'] {
  if (edited.length === 0) return contents
  const next = { ...contents }
  for (const { path, hash } of edited) next[path] = [...(next[path] ?? []).slice(1 - maxContents), hash]
  return next
}
