import { formatDuration } from '../core/duration.ts'
import type { Note } from '../guard-engine/contract.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/** Percentages of the budget that are reported once each. */
const marks = [50, 80, 100]
/** Past the end of the budget, every so many calls get a reminder. */
const reminderCalls = 10

/** Reports how much of `time_budget_seconds` is used. Uses the latest time the session saw, so a clock that goes back adds no time. */
export const timeBudget: Rule = {
  name: 'time-budget',
  on: ['prompt', 'tool_after'],
  judge: (scene) => {
    const { enabled, timeBudgetSeconds } = scene.settings.contextInjection
    const elapsedMs = elapsedOf(scene)
    if (!enabled || timeBudgetSeconds <= 0 || elapsedMs === null) return null
    const percent = (elapsedMs / (timeBudgetSeconds * 1000)) * 100
    const { warned } = scene.history.session
    const fresh = marks.filter((mark) => percent >= mark && !warned.includes(noteText(mark)))
    const mark = fresh.at(-1)
    const time = `${formatDuration(elapsedMs)} of ${formatDuration(timeBudgetSeconds * 1000)}`
    if (mark !== undefined) return answerAt(mark, time, fresh)
    const isReminder = scene.event.kind === 'tool_after' && scene.history.calls.total % reminderCalls === 0
    if (percent < 100 || !isReminder) return null
    return { context: `The time budget is used up: ${time}. Finish with what you have.` }
  },
}

function answerAt(mark: number, time: string, fresh: readonly number[]): RuleAnswer {
  const remember = fresh.map((each): Note => ({ kind: 'warned', about: noteText(each) }))
  if (mark < 100) {
    const advice = mark === 50 ? 'Avoid needless exploration.' : 'It is time to verify and to finish.'
    return { context: `${mark}% of the time budget is used: ${time}. ${advice}`, remember }
  }
  return {
    context: `The time budget is used up: ${time}. Verify what you have and finish. List what is left undone in the last message.`,
    notice: `The time budget of this session is used up: ${time}.`,
    remember,
  }
}

function elapsedOf({ history: { session }, nowMs }: Scene): number | null {
  const startedMs = Date.parse(session.startedAt ?? '')
  return Number.isNaN(startedMs) ? null : Math.max(session.latestMs, nowMs) - startedMs
}

function noteText(mark: number): string {
  return `time budget ${mark}%`
}
