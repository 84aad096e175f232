import type { CaseFacts, GateFacts } from './case-facts.ts'
import type { BaselineComparison, Regression } from './summary.ts'

/** Relative changes above which there is a warning. */
const [maxScoreDrop, maxCostRise] = [0.15, 0.5]

/**
 * What became worse between two runs, case by case for the same agent and model. Skips cases that changed in between, and
 * cases, scores and costs that only one side has.
 *
 * A gate that passed in most trials before and fails in most now is an alert. One that always passed before and now
 * fails sometimes is a warning: with few trials that may be luck.
 */
export function findRegressions(baseline: readonly CaseFacts[], current: readonly CaseFacts[]): Regression[] {
  const before = new Map(baseline.map((facts) => [keyOf(facts), facts]))
  return current.flatMap((now) => {
    const then = before.get(keyOf(now))
    if (then === undefined || isChanged(then, now)) return []
    return [...gateRegressions(then, now), ...scoreRegression(then, now), ...costRegression(then, now)]
  })
}

/** Which results of this run have a counterpart in the baseline. */
export function compareWith(
  runId: string,
  baseline: readonly CaseFacts[],
  current: readonly CaseFacts[],
): BaselineComparison {
  const before = new Map(baseline.map((facts) => [keyOf(facts), facts]))
  const counted = current.filter(({ trials }) => trials > 0)
  const kindOf = (now: CaseFacts) => {
    const then = before.get(keyOf(now))
    return then === undefined ? 'missing' : isChanged(then, now) ? 'changed' : 'compared'
  }
  const { missing = [], changed = [], compared = [] } = Object.groupBy(counted, kindOf)
  const names = (list: readonly CaseFacts[]) =>
    list.map(({ case: name, agent, model }) => ({ case: name, agent, model }))
  const left = changed.length > 0 && { changed: names(changed) }
  return { runId, compared: compared.length, missing: names(missing), ...left }
}

/** The scenario, its template, its graders or its judge. Runs of older versions kept no hash. */
export function isChanged(then: CaseFacts, now: CaseFacts): boolean {
  return then.caseHash !== null && now.caseHash !== null && then.caseHash !== now.caseHash
}

function gateRegressions(then: CaseFacts, now: CaseFacts): Regression[] {
  return now.gates.flatMap((gate) => {
    const earlier = then.gates.find(({ index, type }) => index === gate.index && type === gate.type)
    const severity = earlier === undefined ? null : gateSeverity(share(earlier), share(gate))
    if (earlier === undefined || severity === null) return []
    const name = `gate ${gate.index + 1} (${gate.type})`
    return [
      regression(now, 'gate', severity, `${name} passed ${times(earlier)} before and ${times(gate)} now`),
    ]
  })
}

function gateSeverity(then: number, now: number): Regression['severity'] | null {
  if (then > 0.5 && now < 0.5) return 'alert'
  return then === 1 && now < 1 ? 'warning' : null
}

function scoreRegression(then: CaseFacts, now: CaseFacts): Regression[] {
  const drop = -(relativeChange(then.meanScore, now.meanScore) ?? 0)
  if (drop <= maxScoreDrop + tolerance) return []
  const message = `mean score fell by ${percent(drop)} from ${(then.meanScore ?? 0).toFixed(3)} to ${(now.meanScore ?? 0).toFixed(3)}`
  return [regression(now, 'score', 'warning', message)]
}

function costRegression(then: CaseFacts, now: CaseFacts): Regression[] {
  const rise = relativeChange(then.means.cost_usd, now.means.cost_usd) ?? 0
  if (rise <= maxCostRise + tolerance) return []
  const message = `mean cost rose by ${percent(rise)} from $${(then.means.cost_usd ?? 0).toFixed(4)} to $${(now.means.cost_usd ?? 0).toFixed(4)}`
  return [regression(now, 'cost', 'warning', message)]
}

/** A drop from 1 to .85 is 15%, which binary fractions and means that were rounded would call a little more. */
const tolerance = 1e-6

/** null when either side is unknown or there is nothing to compare with. */
function relativeChange(then: number | null, now: number | null): number | null {
  return then === null || now === null || then <= 0 ? null : (now - then) / then
}

function regression(
  { case: name, agent, model }: CaseFacts,
  kind: Regression['kind'],
  severity: Regression['severity'],
  message: string,
): Regression {
  return { case: name, agent, model, kind, severity, message }
}

function keyOf({ case: name, agent, model }: CaseFacts): string {
  return JSON.stringify([name, agent, model])
}

function share({ passes, trials }: GateFacts): number {
  return trials === 0 ? 0 : passes / trials
}

function times({ passes, trials }: GateFacts): string {
  return `${passes} of ${trials} times`
}

function percent(value: number): string {
  return `${Math.round(value * 100)}%`
}
