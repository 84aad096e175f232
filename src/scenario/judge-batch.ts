import { parseDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import type { Case } from './case.ts'
import type { ScenarioTrial } from './plan.ts'

/** Whether the judge is asked in batches, at half the price: when it is worth it, from one call up, or not at all. */
export const judgeBatchModes = ['auto', 'always', 'never'] as const

export type JudgeBatchMode = (typeof judgeBatchModes)[number]

export interface JudgeBatch {
  /** Fewer calls than this go out one by one after all. */
  readonly minimum: number
  /** Longest wait between two looks at a batch; null: five seconds at first, a minute later. */
  readonly pollMs: number | null
}

/** A batch may take an hour: below this the money saved is not worth the wait. */
const worthwhile = 50

/** null: the judge is asked trial by trial. `judge` is its name, null when there is none. */
export function planJudgeBatch(
  mode: JudgeBatchMode,
  judge: string | null,
  trials: readonly ScenarioTrial[],
  cases: ReadonlyMap<string, Case>,
  env: Readonly<Record<string, string | undefined>>,
): JudgeBatch | null {
  if (mode === 'never' || judge === null) return null
  const isPossible = judge.startsWith('anthropic:')
  if (mode === 'always' && !isPossible)
    throw new GantryError('USAGE', `the judge '${judge}' cannot be asked in batches`, {
      hint: 'Batches are for judges of anthropic:…; name one with --judge-model, or leave out --judge-batch always.',
    })
  const calls = judgeCalls(trials, cases)
  const minimum = mode === 'always' ? 1 : worthwhile
  return isPossible && calls >= minimum ? { minimum, pollMs: pollOf(env) } : null
}

function pollOf({ GANTRY_BATCH_POLL: text }: Readonly<Record<string, string | undefined>>): number | null {
  if (text === undefined || text === '') return null
  const pollMs = parseDuration(text)
  if (pollMs !== null && pollMs > 0) return pollMs
  throw new GantryError('USAGE', `GANTRY_BATCH_POLL is '${text}', which is no time to wait`, {
    hint: 'Write a number above 0 and its unit, for example 30s.',
  })
}

/** What the judge of these trials is asked at most: trials that fail their gates need it not. */
export function judgeCalls(trials: readonly ScenarioTrial[], cases: ReadonlyMap<string, Case>): number {
  return trials.reduce((sum, trial) => sum + callsOf(cases.get(trial.case)), 0)
}

function callsOf(entry: Case | undefined): number {
  if (entry === undefined || entry.rubric === null) return 0
  return entry.scenario.evaluation.judge?.samples ?? 0
}
