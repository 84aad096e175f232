import { parseDuration } from '../core/duration.ts'
import { GantryError } from '../core/error.ts'
import { type Case, isPairwise } from './case.ts'
import type { ScenarioTrial } from './plan.ts'

/** Whether the judge is called in batches at half the price: automatically, always, or never. */
export const judgeBatchModes = ['auto', 'always', 'never'] as const

export type JudgeBatchMode = (typeof judgeBatchModes)[number]

export interface JudgeBatch {
  /** Fewer calls than this are sent one by one. */
  readonly minimum: number
  /** Maximum wait between two polls; null: five seconds at first, later a minute. */
  readonly pollMs: number | null
}

/** A batch may take an hour, so fewer calls are not worth the wait. */
const worthwhile = 50

/** null: the judge is called trial by trial. `judge` is its name, null when there is none. */
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
    throw new GantryError('USAGE', `the judge '${judge}' does not support batches`, {
      hint: 'Only anthropic:… judges support batches. Choose one with --judge-model, or remove --judge-batch always.',
    })
  const calls = judgeCalls(trials, cases)
  const minimum = mode === 'always' ? 1 : worthwhile
  return isPossible && calls >= minimum ? { minimum, pollMs: pollOf(env) } : null
}

function pollOf({ GANTRY_BATCH_POLL: text }: Readonly<Record<string, string | undefined>>): number | null {
  if (text === undefined || text === '') return null
  const pollMs = parseDuration(text)
  if (pollMs !== null && pollMs > 0) return pollMs
  throw new GantryError('USAGE', `GANTRY_BATCH_POLL is '${text}', which is not a duration`, {
    hint: 'Write a number above 0 and its unit, for example 30s.',
  })
}

/** Maximum number of judge calls for these trials; trials that fail their gates need none. */
export function judgeCalls(trials: readonly ScenarioTrial[], cases: ReadonlyMap<string, Case>): number {
  return trials.reduce((sum, trial) => sum + callsOf(cases.get(trial.case)), 0)
}

function callsOf(entry: Case | undefined): number {
  if (entry === undefined || entry.rubric === null || isPairwise(entry)) return 0
  return entry.scenario.evaluation.judge?.samples ?? 0
}
