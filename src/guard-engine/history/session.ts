import { evidenceStatus } from '../../core/evidence.ts'
import type {
  DeclaredCommand,
  EventEntry,
  Fold,
  LedgerEntry,
  Note,
  PlanFacts,
  PlanHistory,
  SessionHistory,
  StoredCall,
} from '../contract.ts'
import { settingsCommandSource } from '../project/command-sources.ts'
import { isEditing } from '../store-event.ts'
import { holdsTests } from '../tests/test-files.ts'
import { notesOf } from './gate.ts'

const maxDeclared = 200
const maxWarned = 200

/** The session itself: when it started, what was reported, and what was declared at its start. */
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
    const noted = notesOf(entry).reduce(afterNote, withSums(counted, entry))
    return addedContext(entry) ? { ...noted, contextInjected: true } : noted
  },
}

/** Decisions that the user may want to know about. Loop warnings are notices too. */
function withSums(state: SessionHistory, entry: LedgerEntry): SessionHistory {
  if (entry.kind !== 'decision') return state
  const { verdict, notice, findings } = entry
  const isNoticed =
    notice !== null || findings.some(({ rule }) => rule === 'detect-loops' || rule === 'count-edits')
  if (verdict === 'pass' && !isNoticed) return state
  const { denied, refused, noticed } = state.sums ?? { denied: 0, refused: 0, noticed: 0 }
  return {
    ...state,
    sums: {
      denied: denied + Number(verdict === 'deny'),
      refused: refused + Number(verdict === 'refuse'),
      noticed: noticed + Number(verdict === 'pass' && isNoticed),
    },
  }
}

function afterEvent(state: SessionHistory, entry: EventEntry): SessionHistory {
  const { event, at } = entry
  const ms = Date.parse(at)
  const next: SessionHistory = {
    ...state,
    id: state.id ?? event.session,
    startedAt: state.startedAt ?? at,
    isOver: event.kind === 'session_end',
    latestMs: Number.isNaN(ms) ? state.latestMs : Math.max(state.latestMs, ms),
  }
  switch (event.kind) {
    case 'session_start':
      return afterStart(next, entry)
    case 'compact_before':
      return { ...next, compactedAt: at }
    // The state has changed, so the saved one would be wrong after the next compaction.
    case 'prompt':
    case 'tool_before':
      return next.relay === null ? next : { ...next, relay: null }
    default:
      return next
  }
}

/**
 * A compaction continues the same work, so nothing is reset. Every other start resets the time and the list of warnings. Evidence is never
 * reset, because it is bound to its tree.
 */
function afterStart(state: SessionHistory, { event, at }: EventEntry): SessionHistory {
  const declared = declaredAfter(state.declared, event)
  if (event.source === 'compact') return { ...state, declared, compactedAt: at }
  const startedAt = state.latestMs > 0 ? new Date(state.latestMs).toISOString() : at
  return { ...state, declared, startedAt, relay: null, warned: [], contextInjected: false }
}

/**
 * Commands declared by project files stay declared until a new session, because the agent can change these files. It cannot change
 * settings, so their current content counts.
 */
function declaredAfter(
  old: readonly DeclaredCommand[],
  { source, facts }: EventEntry['event'],
): readonly DeclaredCommand[] {
  const now = facts.project?.commands
  if (now === undefined) return old
  if (source === 'startup') return now.slice(0, maxDeclared)
  const kept = old.filter((one) => one.source !== settingsCommandSource)
  const known = new Set(now.map(({ command }) => command))
  return [...now, ...kept.filter(({ command }) => !known.has(command))].slice(0, maxDeclared)
}

/** How often the guard said something in this session. */
export function sumOf({ sums }: SessionHistory): number {
  return sums === undefined ? 0 : sums.denied + sums.refused + sums.noticed
}

function afterNote(state: SessionHistory, note: Note): SessionHistory {
  if (note.kind === 'relay') return { ...state, relay: note.text }
  if (note.kind === 'ended') return { ...state, summedUp: sumOf(state) }
  if (note.kind !== 'warned' || state.warned.includes(note.about)) return state
  return { ...state, warned: [...state.warned, note.about].slice(-maxWarned) }
}

/** By rule name: a decision does not contain its event, only the id of the event's entry. */
function addedContext(entry: LedgerEntry): boolean {
  return (
    entry.kind === 'decision' &&
    entry.context !== null &&
    entry.findings.some(({ rule }) => rule === 'inject-context')
  )
}

/** Progress in the plan and in the cycle of red, green and refactor. */
export const taskFold: Fold<PlanHistory> = {
  initial: { current: null, done: 0, remaining: 0, iteration: 0, phase: 'idle', tdd: null, plan: null },
  apply: (state, entry) =>
    entry.kind === 'event' ? atWork(state, entry) : notesOf(entry).reduce(afterTestRun, state),
}

function atWork(before: PlanHistory, { event }: EventEntry): PlanHistory {
  const started: PlanHistory =
    event.kind === 'session_start' && before.phase === 'idle' ? { ...before, phase: 'executing' } : before
  const edited = event.kind === 'tool_after' && event.call ? withEdit(started, event.call) : started
  const plan = event.facts.project?.plan
  return plan == null ? edited : withPlan(edited, plan)
}

function withPlan(state: PlanHistory, plan: PlanFacts): PlanHistory {
  const current = plan.open[0] ?? null
  const finished = state.plan === null ? 0 : Math.max(0, plan.done - state.done)
  const isSame = state.plan === null || state.current === current
  return {
    ...state,
    plan,
    current,
    done: plan.done,
    remaining: plan.total - plan.done,
    iteration: state.iteration + finished,
    ...(!isSame && { tdd: null, touched: untouched }),
  }
}

const untouched = { tests: false, any: false } as const

function withEdit(state: PlanHistory, call: StoredCall): PlanHistory {
  if (!isEditing(call.action) || call.outcome?.kind === 'failure') return state
  const tests = call.paths.some((path) => holdsTests(path.replace(/^\//, '')))
  return { ...state, touched: { any: true, tests: tests || (state.touched?.tests ?? false) } }
}

/** Red needs a test that was there before the change: a new one, or one that fails before any edit. A suite that merely broke is not a step. */
function afterTestRun(state: PlanHistory, note: Note): PlanHistory {
  if (note.kind === 'ticked') return { ...withPlan(state, note.plan), iteration: note.iteration }
  if (note.kind !== 'evidence' || (note.evidence.kind !== 'test' && note.evidence.kind !== 'other'))
    return state
  const touched = state.touched ?? untouched
  const status = evidenceStatus([note.evidence], note.evidence)
  if (status === 'red') return touched.tests || !touched.any ? { ...state, tdd: 'red' } : state
  if (status !== 'green') return state
  if (state.tdd === 'red') return { ...state, tdd: 'green', touched: untouched }
  const isRefactored = state.tdd !== null && touched.any
  return { ...state, tdd: isRefactored ? 'refactor' : state.tdd, touched: untouched }
}
