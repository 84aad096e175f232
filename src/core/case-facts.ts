import { settled } from './case-tally.ts'
import type { TrialRecord } from './trial.ts'
import { isCounted } from './verdict.ts'

/** The data of a case's trials that other runs are compared with. Plain data, because it is stored. */
export interface CaseFacts {
  readonly case: string
  readonly agent: string
  readonly model: string
  /** Changes when the case or its grading changes; null when it is unknown. */
  readonly caseHash: string | null
  readonly trials: number
  readonly passes: number
  /** Trials that were `infra` or `invalid`. */
  readonly uncounted: number
  readonly gates: readonly GateFacts[]
  readonly meanScore: number | null
  /** Means of the counted trials that measured it. */
  readonly means: Readonly<Record<AmountName, number | null>>
  /** Trials for a person who looks. Not in a baseline file. */
  readonly examples?: readonly Example[]
  /** Trials that another run made: from the cache, or graded again. Absent: none. */
  readonly copies?: readonly Copy[] | undefined
  /** The sums of the other trials, if there are copies. Not in a baseline file. */
  readonly own?: Sums
}

interface Example {
  readonly attempt: number
  readonly passed: boolean
  readonly dir: string
}

/** `sums` is not in a baseline file. */
interface Copy {
  readonly run: string
  readonly attempt: number
  readonly sums?: Sums
}

/** As `CaseFacts`, but such that those of two sets of trials can be added. */
interface Sums {
  trials: number
  passes: number
  uncounted: number
  readonly gates: { -readonly [Key in keyof GateFacts]: GateFacts[Key] }[]
  readonly score: Sum
  readonly amounts: Readonly<Record<AmountName, Sum>>
  readonly examples: Example[]
}

interface Sum {
  sum: number
  n: number
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
  Partial<
    Pick<TrialRecord, 'attempt' | 'caseHash' | 'cachedFrom' | 'tokens' | 'durationMs' | 'metrics' | 'dir'>
  >

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
  let caseHash: string | null = null
  const own = noTrials()
  const copies: (Copy & { readonly sums: Sums })[] = []
  return {
    add: (record: FactsSource): void => {
      caseHash ??= record.caseHash ?? null
      const { cachedFrom, attempt = 1 } = record
      if (cachedFrom == null) addTo(own, sumsOf(record))
      else copies.push({ run: cachedFrom, attempt, sums: sumsOf(record) })
    },
    finish: (): CaseFacts => ({
      case: name,
      agent,
      model,
      caseHash,
      ...meansOf(copies.reduce((all, { sums }) => addTo(all, sums), structuredClone(own))),
      ...(copies.length > 0 && { own, copies }),
    }),
  }
}

/** The same without some copies. Those of a baseline file cannot be told apart from its other trials, so none is left. */
export function withoutCopies(facts: CaseFacts, isLeftOut: (copy: Copy) => boolean): CaseFacts {
  const kept = facts.copies?.filter((copy) => !isLeftOut(copy))
  if (kept === undefined || kept.length === facts.copies?.length) return facts
  const own = facts.own === undefined ? noTrials() : structuredClone(facts.own)
  const all = facts.own === undefined ? own : kept.reduce((sum, { sums }) => addTo(sum, sums), own)
  return { ...facts, ...meansOf(all), copies: kept }
}

const noTrials = (): Sums => ({
  trials: 0,
  passes: 0,
  uncounted: 0,
  gates: [],
  score: sumOf(null),
  amounts: eachAmount(() => sumOf(null)),
  examples: [],
})

function sumsOf(record: FactsSource): Sums {
  if (!isCounted(record.verdict)) return { ...noTrials(), uncounted: 1 }
  const passed = record.verdict === 'pass'
  const { attempt = 1, dir } = record
  const measured = amountsOf(record)
  return {
    trials: 1,
    passes: Number(passed),
    uncounted: 0,
    gates: record.gates.map((gate, index) => ({
      index,
      type: gate.type,
      passes: Number(gate.passed),
      trials: 1,
    })),
    score: sumOf(record.score),
    amounts: eachAmount((amount) => sumOf(measured[amount])),
    examples: dir === undefined ? [] : [{ attempt, passed, dir }],
  }
}

/** Of each outcome. More would be most of the memory of a comparison. */
const maxExamples = 2

/** Changes the first one: a run has many trials. */
function addTo(all: Sums, more: Sums = noTrials()): Sums {
  all.trials += more.trials
  all.passes += more.passes
  all.uncounted += more.uncounted
  for (const { index, type, passes, trials } of more.gates) {
    let gate = all.gates.find((each) => each.index === index && each.type === type)
    if (gate === undefined) {
      gate = { index, type, passes: 0, trials: 0 }
      all.gates.push(gate)
    }
    gate.passes += passes
    gate.trials += trials
  }
  addSum(all.score, more.score)
  for (const amount of amountNames) addSum(all.amounts[amount], more.amounts[amount])
  for (const example of more.examples) {
    const alike = all.examples.filter(({ passed }) => passed === example.passed)
    if (alike.length < maxExamples) all.examples.push(example)
  }
  return all
}

function addSum(all: Sum, more: Sum): void {
  all.sum += more.sum
  all.n += more.n
}

function meansOf({ score, amounts, gates, ...counts }: Sums) {
  const mean = ({ sum, n }: Sum): number | null => (n === 0 ? null : settled(sum / n))
  return {
    ...counts,
    gates: gates.toSorted((a, b) => a.index - b.index),
    meanScore: mean(score),
    means: eachAmount((amount) => mean(amounts[amount])),
  }
}

function eachAmount<Value>(of: (amount: AmountName) => Value): Record<AmountName, Value> {
  return Object.fromEntries(amountNames.map((amount) => [amount, of(amount)])) as Record<AmountName, Value>
}

function sumOf(value: number | null): Sum {
  return value === null ? { sum: 0, n: 0 } : { sum: value, n: 1 }
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
