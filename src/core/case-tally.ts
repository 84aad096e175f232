import { exactRate } from './stats/exact-rate.ts'
import type { CaseSummary } from './summary.ts'
import type { TrialRecord } from './trial.ts'
import { isCounted, type Verdict } from './verdict.ts'

/** Running sums over the trials of one case by one agent with one model. Keeps no records. */
export type CaseTally = ReturnType<typeof createCaseTally>

export function createCaseTally(group: Pick<CaseSummary, 'case' | 'agent' | 'model'>) {
  const counts: Record<Verdict, number> = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  const score = createMean()
  const costUsd = createMean()
  const durationMs = createMean()
  const commands = createMean()
  const errorRate = createMean()
  const firstTry = createMean()
  const help = createMean()
  const counted = (): number => counts.pass + counts.fail
  return {
    counted,
    /** Share of passes among counted trials; null without any. */
    passShare: (): number | null => (counted() === 0 ? null : counts.pass / counted()),
    add: (record: TrialRecord): void => {
      counts[record.verdict] += 1
      if (!isCounted(record.verdict)) return
      if (record.score !== null) score.add(record.score)
      if (record.costUsd !== null) costUsd.add(record.costUsd)
      durationMs.add(record.durationMs)
      // Zeros of an agent that was not observed are not a measurement.
      if (record.metrics.source === 'none') return
      commands.add(record.metrics.total_commands)
      help.add(record.metrics.help_invocations)
      // An agent that never called the tool has no success rate with it.
      if (record.metrics.total_commands === 0) return
      const { error_rate, first_try_success_rate } = record.metrics
      if (error_rate !== null) errorRate.add(error_rate)
      if (first_try_success_rate !== null) firstTry.add(first_try_success_rate)
    },
    finish: (): CaseSummary => ({
      ...group,
      counts: { ...counts },
      passRate: exactRate(counts.pass, counted()),
      passAtK: upToTen(counted(), (k) => passAtK(counted(), counts.pass, k)),
      passHatK: upToTen(counted(), (k) => passHatK(counted(), counts.pass, k)),
      flaky: counts.pass > 0 && counts.fail > 0,
      meanScore: score.value(),
      meanCostUsd: costUsd.value(),
      meanDurationMs: durationMs.value() ?? 0,
      metrics: {
        commands: commands.value() ?? 0,
        errorRate: commands.value() ? errorRate.value() : 0,
        firstTrySuccessRate: commands.value() ? firstTry.value() : 0,
        helpInvocations: help.value() ?? 0,
      },
    }),
  }
}

function createMean() {
  let sum = 0
  let n = 0
  return {
    add: (value: number): void => {
      sum += value
      n += 1
    },
    /** Rounded, so the result does not depend on the order in which trials end. */
    value: (): number | null => (n === 0 ? null : settled(sum / n)),
  }
}

/** The last digits of a float sum depend on the order. Nine digits are enough for money and milliseconds. */
export function settled(value: number): number {
  return Math.round(value * 1e9) / 1e9
}

function upToTen(n: number, estimate: (k: number) => number | null): number[] {
  return Array.from({ length: Math.min(n, 10) }, (_, index) => estimate(index + 1) ?? 0)
}

/** Chance that at least one of `k` tries passes, estimated without bias from `passes` of `n`. null when `k` is not in 1..n. */
export function passAtK(n: number, passes: number, k: number): number | null {
  const allFail = chanceOfAll(n, n - passes, k)
  return allFail === null ? null : 1 - allFail
}

/** Chance that all of `k` tries pass, estimated without bias: not `(passes / n) ** k`. null when `k` is not in 1..n. */
export function passHatK(n: number, passes: number, k: number): number | null {
  return chanceOfAll(n, passes, k)
}

/** C(wanted, k) / C(n, k) as a product of shares: no factor leaves 0..1, so nothing overflows. */
function chanceOfAll(n: number, wanted: number, k: number): number | null {
  if (k < 1 || k > n) return null
  if (wanted < k) return 0
  let chance = 1
  for (let drawn = 0; drawn < k; drawn += 1) chance *= (wanted - drawn) / (n - drawn)
  return chance
}
