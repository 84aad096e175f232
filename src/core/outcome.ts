import { shorten } from './shorten.ts'
import type { GateResult, JudgeResult } from './trial.ts'

export interface Outcome {
  readonly verdict: 'pass' | 'fail'
  /** One actionable sentence. */
  readonly reason: string
}

/**
 * The outcome of a completed trial: a pass needs every gate, and the judge if there is one. Metrics, evaluators and the composite
 * score never decide.
 */
export function outcomeOf(gates: readonly GateResult[], judge: JudgeResult | null): Outcome {
  const failed = gates.filter(({ passed }) => !passed)
  if (failed.length > 0) return { verdict: 'fail', reason: gatesFailed(failed, gates.length) }
  if (judge !== null && !judge.passed)
    return {
      verdict: 'fail',
      reason: `the judge gave ${points(judge.weighted_score)}, below the threshold of ${points(judge.threshold)}${firstIssue(judge)}`,
    }
  return { verdict: 'pass', reason: whatWasProven(gates.length, judge) }
}

function gatesFailed(failed: readonly GateResult[], total: number): string {
  const named = failed.slice(0, 3).map(({ type, message }) => `${type}: ${oneLine(message)}`)
  const more = failed.length > named.length ? [`and ${failed.length - named.length} more`] : []
  const count = total === 1 ? 'the only gate failed' : `${failed.length} of ${total} gates failed`
  return `${count}: ${[...named, ...more].join('; ')}`
}

function whatWasProven(gates: number, judge: JudgeResult | null): string {
  const gatesPassed = gates === 1 ? 'the only gate passed' : `all ${gates} gates passed`
  if (judge === null)
    return gates === 0
      ? 'nothing was checked: the case has neither a gate nor a judge that scores'
      : gatesPassed
  const judged = `the judge gave ${points(judge.weighted_score)} (threshold ${points(judge.threshold)})`
  return gates === 0 ? judged : `${gatesPassed}; ${judged}`
}

function firstIssue({ issues: [issue] }: JudgeResult): string {
  return issue === undefined ? '' : `: ${oneLine(issue)}`
}

function oneLine(text: string): string {
  const folded = text.replaceAll(/\s+/g, ' ').trim()
  return shorten(folded, 200)
}

/** Never prints a score below the threshold as equal to it. */
function points(score: number): string {
  return (Math.floor(score * 1_000 + 1e-6) / 1_000).toFixed(3).replace(/0$/, '')
}
