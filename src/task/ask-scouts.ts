import { counted } from '../core/counted.ts'
import {
  milestones,
  type ScoutAnswer,
  type ScoutName,
  type ScoutOutcome,
  type ScoutQuery,
} from './contract.ts'
import { infra } from './task-halt.ts'
import { goOn, type TaskInHand } from './task-in-hand.ts'

/** One question to Scout A. An answer that was paid for by an earlier process is not asked for again. */
export async function askScoutA(hand: TaskInHand, query: ScoutQuery): Promise<void> {
  const { scouts } = hand.work
  hand.known.scoutA = await ask(hand, 'scout_a', (signal) => scouts.askA(query, signal))
}

export async function askScoutB(hand: TaskInHand, query: ScoutQuery): Promise<void> {
  const { scouts } = hand.work
  const answer = await ask(hand, 'scout_b', (signal) => scouts.askB(query, signal))
  hand.known.scoutB = answer
  hand.known.diagnosis = answer.report.failure_analysis ?? hand.known.diagnosis
}

const names: Readonly<Record<ScoutName, string>> = { scout_a: 'Scout A', scout_b: 'Scout B' }

async function ask<Report>(
  hand: TaskInHand,
  scout: ScoutName,
  put: (signal: AbortSignal) => Promise<ScoutOutcome<Report>>,
): Promise<ScoutAnswer<Report>> {
  const { journal, emit, feed, known, spending, powers, signal } = hand
  const number = known.next[scout]
  known.next[scout] += 1
  emit({ kind: 'milestone', milestone: scout, text: milestones[scout] })
  const step = await journal.step(`${scout.replace('_', '-')}-${number}`, async () => {
    goOn(hand)
    spending.check()
    // Told when the answer is kept: whoever dies in between has neither.
    const { result: outcome, told } = await feed.hold(() => put(signal))
    if (outcome.kind !== 'answer') for (const each of told) emit(each)
    if (outcome.kind === 'cancelled') {
      goOn(hand)
      throw infra(
        names[scout],
        'the question was cancelled although the task was not',
        'Start the task again.',
      )
    }
    if (outcome.kind === 'failed') {
      goOn(hand)
      spending.check()
      throw infra(
        names[scout],
        `${outcome.message} (${counted(outcome.tries, 'try', 'tries')})`,
        'Check that the model can be reached: its key, its address and its limits. Then retry the task.',
      )
    }
    spending.add(outcome.answer.costUsd)
    return { answer: powers.redaction.value(outcome.answer) as ScoutAnswer<Report>, told }
  })
  for (const each of step.told) emit(each)
  known.corrections.push(...step.answer.corrections)
  return step.answer
}
