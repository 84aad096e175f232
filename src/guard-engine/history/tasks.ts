import { evidenceStatus } from '../../core/evidence.ts'
import type { EventEntry, Fold, Note, PlanFacts, StoredCall, TaskHistory } from '../contract.ts'
import { looksLikeTest } from '../tests/test-files.ts'
import { notesOf } from './notes-of.ts'

/** Where the work stands in the plan, and in the circle of red, green, refactor. */
export const taskFold: Fold<TaskHistory> = {
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
    entry.kind === 'event' ? afterEvent(state, entry) : notesOf(entry).reduce(afterNote, state),
}

function afterEvent(before: TaskHistory, { event }: EventEntry): TaskHistory {
  const started: TaskHistory =
    event.kind === 'session_start' && before.phase === 'idle' ? { ...before, phase: 'executing' } : before
  const edited = event.kind === 'tool_after' && event.call ? afterCall(started, event.call) : started
  const plan = event.facts.project?.plan
  return plan == null ? edited : withPlan(edited, plan)
}

function withPlan(state: TaskHistory, plan: PlanFacts): TaskHistory {
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

function afterCall(state: TaskHistory, call: StoredCall): TaskHistory {
  const isEdit = call.action === 'write' || call.action === 'edit' || call.action === 'patch'
  if (!isEdit || call.outcome?.kind === 'failure') return state
  const tests = call.paths.some((path) => looksLikeTest(path.replace(/^\//, '')))
  return { ...state, touched: { any: true, tests: tests || (state.touched?.tests ?? false) } }
}

/** Red needs a test that was written before it failed: a suite that merely broke is no step of the circle. */
function afterNote(state: TaskHistory, note: Note): TaskHistory {
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
