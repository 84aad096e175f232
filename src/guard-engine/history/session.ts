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
import { settingsSource } from '../project/declaring-files.ts'
import { looksLikeTest } from '../tests/test-files.ts'
import { notesOf } from './gate.ts'

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

/** By the name of the rule: a decision does not tell which event it answers, only whose entry it is. */
function toldContext(entry: LedgerEntry): boolean {
  return (
    entry.kind === 'decision' &&
    entry.context !== null &&
    entry.findings.some(({ rule }) => rule === 'inject-context')
  )
}

/** Where the work stands in the plan, and in the circle of red, green, refactor. */
export const taskFold: Fold<PlanHistory> = {
  initial: {
    current: null,
    done: 0,
    remaining: 0,
    iteration: 0,
    phase: 'idle',
    tdd: null,
    plan: null,
  },
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
  const isEdit = call.action === 'write' || call.action === 'edit' || call.action === 'patch'
  if (!isEdit || call.outcome?.kind === 'failure') return state
  const tests = call.paths.some((path) => looksLikeTest(path.replace(/^\//, '')))
  return { ...state, touched: { any: true, tests: tests || (state.touched?.tests ?? false) } }
}

/** Red needs a test that was written before it failed: a suite that merely broke is no step of the circle. */
function afterTestRun(state: PlanHistory, note: Note): PlanHistory {
  if (note.kind !== 'evidence' || (note.evidence.kind !== 'test' && note.evidence.kind !== 'other'))
    return state
  const touched = state.touched ?? untouched
  const status = evidenceStatus([note.evidence], note.evidence)
  if (status === 'red') return touched.tests ? { ...state, tdd: 'red' } : state
  if (status !== 'green') return state
  if (state.tdd === 'red') return { ...state, tdd: 'green', touched: untouched }
  const isRefactored = state.tdd !== null && touched.any
  return { ...state, tdd: isRefactored ? 'refactor' : state.tdd, touched: untouched }
}
