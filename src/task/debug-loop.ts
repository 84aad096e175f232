import { decide } from './analyse.ts'
import { askScoutA, askScoutB } from './ask-scouts.ts'
import { milestones } from './contract.ts'
import { newStrategy } from './editor/new-strategy.ts'
import type { Situation } from './editor/prompt-facts.ts'
import { requeryScouts } from './editor/requery-scouts.ts'
import { announceChange, announceEdit, implement } from './implement.ts'
import type { KeptVerification } from './kept-verification.ts'
import { countReplan, nextAction } from './loop/count.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { infra, TaskHalt } from './task-halt.ts'
import type { TaskInHand } from './task-in-hand.ts'
import { verifyStep } from './verify-step.ts'

/** Verifies and fixes until it is green. Everything else is thrown as a halt. */
export async function debugLoop(hand: TaskInHand): Promise<KeptVerification> {
  for (;;) {
    const verified = await verifyStep(hand)
    const { known } = hand
    switch (nextAction(known.counters, verified.status)) {
      case 'SUCCESS':
        return verified
      case 'INFRA_STOP':
        throw infra(
          'Verifier',
          `${verified.error?.type ?? 'unknown'}: ${verified.error?.message ?? ''}`,
          'Check the sandbox with gantry doctor, then retry the task. The changes so far are kept.',
        )
      case 'HARD_STOP': {
        const { totalVerifyLoops } = known.counters
        throw new TaskHalt({ kind: 'stuck', reason: `${totalVerifyLoops} verifications failed` })
      }
      case 'CONTINUE':
        await fixForward(hand, verified)
        break
      case 'REPLAN':
        await replan(hand, verified)
    }
  }
}

async function fixForward(hand: TaskInHand, verified: KeptVerification): Promise<void> {
  const { states, known } = hand
  const attempt = known.attempts.length
  states.move('DEBUGGING', `verification ${attempt} failed`)
  await diagnose(hand, verified)
  announceEdit(hand)
  await implement(hand, afterFailure(hand, 'fix', verified))
  announceChange(hand)
}

/** Scout B reads the log, the line that says most first. */
async function diagnose(hand: TaskInHand, { log, failure }: KeptVerification): Promise<void> {
  const { known, emit } = hand
  await askScoutB(hand, {
    question: `Why did verification ${known.attempts.length} fail, and where is the cause?`,
    failureLog: failure === null ? log : `${failure}\n\n${log}`,
  })
  const { diagnosis } = known
  if (diagnosis === null || diagnosis === undefined) return
  emit({
    kind: 'diagnosis',
    attempt: known.attempts.length,
    text: [diagnosis.root_cause, ...diagnosis.suggested_investigation].join('\n'),
  })
}

async function replan(hand: TaskInHand, verified: KeptVerification): Promise<void> {
  const { states, known, emit } = hand
  const attempt = known.attempts.length
  states.move('REPLANNING', `${known.counters.consecutiveFailures} verifications in a row failed`)
  emit({ kind: 'milestone', milestone: 'replanning', text: milestones.replanning })
  const failures = known.attempts
    .slice(-known.counters.consecutiveFailures)
    .map((each) => each.primaryFailure ?? '')
  known.counters = countReplan(known.counters)
  await askAgain(hand, failures, verified)
  const strategy = await newStrategy(hand, verified)
  known.strategies.push(strategy)
  emit({ kind: 'replan', attempt, strategy })
  await takeSnapshot(hand, 'replan')
  emit({ kind: 'milestone', milestone: 'replanned', text: milestones.replanned })
  states.move('IMPLEMENTING', `strategy ${known.strategies.length}`)
  announceEdit(hand)
  await implement(hand, afterFailure(hand, 'replan', verified))
  announceChange(hand)
}

async function askAgain(
  hand: TaskInHand,
  failures: readonly string[],
  { log, failure }: KeptVerification,
): Promise<void> {
  const scouts = requeryScouts(failures)
  const task = hand.task.objective
  const said = failures.join('\n')
  if (scouts.includes('scout_a'))
    await askScoutA(hand, {
      question: `The strategy so far failed. Which files and dependencies were overlooked?\n\nTask: ${task}\n\nFailures:\n${said}`,
      failureLog: log,
    })
  if (scouts.includes('scout_b'))
    await askScoutB(hand, {
      question: `The strategy so far failed. What is wrong with the build, the test setup or the environment?\n\nTask: ${task}`,
      failureLog: failure === null ? log : `${failure}\n\n${log}`,
    })
  if (scouts.length > 0) await decide(hand)
}

function afterFailure({ known }: TaskInHand, kind: 'fix' | 'replan', { log }: KeptVerification): Situation {
  return {
    kind,
    attempts: [...known.attempts],
    log,
    diagnosis: known.diagnosis,
    earlier: known.strategies.slice(0, -1),
  }
}
