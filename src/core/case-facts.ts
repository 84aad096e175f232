import { createMean } from './case-tally.ts'
import type { TrialRecord } from './trial.ts'
import { isCounted } from './verdict.ts'

/** The data of a case's trials that other runs are compared with. Plain data, because it is stored. */
export interface CaseFacts {
  readonly case: string
  readonly agent: string
  readonly model: string
  /** Changes when the case or its grading changes; null when it is unknown. */
  readonly caseHash: string | null
  /** Counted trials. */
  readonly trials: number
  readonly passes: number
  /** Trials that were `infra` or `invalid`. */
  readonly uncounted: number
  readonly gates: readonly GateFacts[]
  readonly meanScore: number | null
  /** Means of the counted trials that measured it. */
  readonly means: Readonly<Record<AmountName, number | null>>
  /** Directories of a trial that passed and of one that did not, for a person who looks. Not in a baseline file. */
  readonly examples?: { readonly passed: string | null; readonly failed: string | null }
}

/** What is compared besides the pass rate. Less is better. */
export const amountNames = ['cost_usd', 'tokens', 'time_ms', 'commands', 'errors'] as const
export type AmountName = (typeof amountNames)[number]

/** A gate is identified by position and type, so after an edit of the case only unchanged gates are compared. */
export interface GateFacts {
  readonly index: number
  readonly type: string
  readonly passes: number
  readonly trials: number
}

export type FactsSource = Pick<
  TrialRecord,
  'case' | 'agent' | 'model' | 'verdict' | 'gates' | 'score' | 'costUsd'
> &
  Partial<Pick<TrialRecord, 'caseHash' | 'tokens' | 'durationMs' | 'metrics' | 'dir'>>

export function createFacts() {
  const groups = new Map<string, ReturnType<typeof createGroup>>()
  return {
    add: (record: FactsSource): void => {
      const key = JSON.stringify([record.case, record.agent, record.model])
      const group = groups.get(key) ?? createGroup(record)
      groups.set(key, group)
      group.add(record)
    },
    /** Sorted by case, agent and model. */
    finish: (): CaseFacts[] =>
      [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group.finish()),
  }
}

function createGroup({ case: name, agent, model }: FactsSource) {
  const gates = new Map<string, GateFacts>()
  const score = createMean()
  const amounts = new Map(amountNames.map((amount) => [amount, createMean()]))
  const examples: { passed: string | null; failed: string | null } = { passed: null, failed: null }
  let caseHash: string | null = null
  let trials = 0
  let passes = 0
  let uncounted = 0
  return {
    add: (record: FactsSource): void => {
      caseHash ??= record.caseHash ?? null
      if (!isCounted(record.verdict)) {
        uncounted += 1
        return
      }
      trials += 1
      if (record.verdict === 'pass') passes += 1
      examples[record.verdict === 'pass' ? 'passed' : 'failed'] ??= record.dir ?? null
      if (record.score !== null) score.add(record.score)
      for (const [amount, value] of Object.entries(amountsOf(record)))
        if (value !== null) amounts.get(amount as AmountName)?.add(value)
      for (const [index, { type, passed }] of record.gates.entries()) {
        const key = `${index} ${type}`
        const before = gates.get(key) ?? { index, type, passes: 0, trials: 0 }
        gates.set(key, { ...before, passes: before.passes + (passed ? 1 : 0), trials: before.trials + 1 })
      }
    },
    finish: (): CaseFacts => ({
      case: name,
      agent,
      model,
      caseHash,
      trials,
      passes,
      uncounted,
      gates: [...gates.values()].sort((a, b) => a.index - b.index),
      meanScore: score.value(),
      means: Object.fromEntries(
        amountNames.map((amount) => [amount, amounts.get(amount)?.value() ?? null]),
      ) as CaseFacts['means'],
      examples: { ...examples },
    }),
  }
}

function amountsOf({ costUsd, tokens, durationMs, metrics }: FactsSource): Record<AmountName, number | null> {
  // Zeros of an agent that was not observed are not a measurement.
  const use = metrics === undefined || metrics.source === 'none' ? null : metrics
  return {
    cost_usd: costUsd,
    tokens: tokens == null ? null : tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite,
    time_ms: durationMs ?? null,
    commands: use?.total_commands ?? null,
    errors: use?.error_rate == null ? null : use.error_count,
  }
}
