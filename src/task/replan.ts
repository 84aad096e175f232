import type { ActiveTask, KeptVerification } from './active-task.ts'
import { askScoutA, askScoutB, settleConflicts } from './analyse.ts'
import { milestones, type ScoutName } from './contract.ts'
import { newStrategy } from './editor/strategy.ts'
import { countReplan } from './loop-counters.ts'
import { takeSnapshot } from './take-snapshot.ts'

/** After several failures in a row: asks the Scouts the failures concern, and finds a strategy that was not tried. */
export async function replan(active: ActiveTask, verified: KeptVerification): Promise<void> {
  const { known, emit } = active
  const attempt = known.attempts.length
  emit({ kind: 'milestone', milestone: 'replanning', text: milestones.replanning })
  const failures = known.attempts
    .slice(-known.counters.consecutiveFailures)
    .map((each) => each.primaryFailure ?? '')
  known.counters = countReplan(known.counters)
  await askAgain(active, failures, verified)
  const strategy = await newStrategy(active, verified)
  known.strategies.push(strategy)
  emit({ kind: 'replan', attempt, strategy })
  await takeSnapshot(active, 'replan')
  emit({ kind: 'milestone', milestone: 'replanned', text: milestones.replanned })
}

async function askAgain(
  active: ActiveTask,
  failures: readonly string[],
  { log, failure }: KeptVerification,
): Promise<void> {
  const scouts = requeryScouts(failures)
  const task = active.task.objective
  if (scouts.includes('scout_a'))
    await askScoutA(active, {
      question: `The strategy so far failed. Which files and dependencies were overlooked?\n\nTask: ${task}\n\nFailures:\n${failures.join('\n')}`,
      failureLog: log,
    })
  if (scouts.includes('scout_b'))
    await askScoutB(active, {
      question: `The strategy so far failed. What is wrong with the build, the test setup or the environment?\n\nTask: ${task}`,
      failureLog: failure === null ? log : `${failure}\n\n${log}`,
    })
  if (scouts.length > 0) await settleConflicts(active)
}

const topics: readonly (readonly [ScoutName, RegExp])[] = [
  ['scout_a', /\b(?:imports?|importing|modules?|dependenc(?:y|ies)|not found|undefined|missing)\b/i],
  [
    'scout_b',
    /\b(?:builds?|building|compil(?:e|er|es|ed|ing|ation)|test setup|environment|time(?:d |-)?out)\b/i,
  ],
]

/** Which Scouts a REPLAN asks again, by the topics of the failures. */
export function requeryScouts(failures: readonly string[]): readonly ScoutName[] {
  const text = failures.join('\n').replaceAll(/([a-z])([A-Z])/g, '$1 $2')
  return topics.filter(([, words]) => words.test(text)).map(([scout]) => scout)
}
