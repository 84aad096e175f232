import type { Verdict } from './verdict.ts'

/** What a table of trials shows of each. */
export interface TrialFacts {
  readonly trial_id: string
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly attempt: number
  readonly verdict: Verdict
  readonly reason: string
  readonly score: number | null
  readonly cost_usd: number | null
  readonly duration_ms: number
  readonly started_at: string
  /** A JSON list; null without tags. */
  readonly tags?: string | null
}

export const trialFilters = ['failures', 'errors', 'flaky', 'different'] as const
export const trialOrders = ['plan', 'case', 'agent', 'verdict', 'score', 'cost', 'time', 'started'] as const

export interface TrialSelection {
  /** failures: fail; errors: infra and invalid; flaky: passed and failed; different: agents do not agree. */
  readonly only?: (typeof trialFilters)[number] | undefined
  readonly verdict?: Verdict | undefined
  readonly case?: string | undefined
  readonly agent?: string | undefined
  readonly model?: string | undefined
  readonly tag?: string | undefined
  /** In the case, the id or the reason. */
  readonly text?: string | undefined
  readonly sort?: (typeof trialOrders)[number] | undefined
  readonly descending?: boolean | undefined
}

/** The trials that a person asked for, in the order asked for. */
export function selectTrials<T extends TrialFacts>(trials: readonly T[], selection: TrialSelection): T[] {
  const { only, text, tag, sort = 'plan', descending = false } = selection
  const isWanted = only === undefined ? () => true : wantedBy(only, trials)
  const words = text?.toLowerCase()
  const quoted = tag === undefined ? undefined : JSON.stringify(tag)
  const found = trials.filter(
    (trial) =>
      equal(selection.verdict, trial.verdict) &&
      equal(selection.case, trial.case) &&
      equal(selection.agent, trial.agent) &&
      equal(selection.model, trial.model) &&
      (quoted === undefined || trial.tags?.includes(quoted) === true) &&
      (words === undefined ||
        `${trial.trial_id}\n${trial.case}\n${trial.reason}`.toLowerCase().includes(words)) &&
      isWanted(trial),
  )
  const key = keys[sort]
  const sign = descending ? -1 : 1
  return found.sort((a, b) => sign * order(key(a), key(b)) || order(a.trial_id, b.trial_id))
}

/** One case of one agent and model: what happened how often. */
export interface CaseCell {
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly counts: Record<Verdict, number>
  /** Sums over the trials that measured it. */
  costUsd: number | null
  durationMs: number
}

export function caseCells(trials: Iterable<TrialFacts>): CaseCell[] {
  const cells = new Map<string, CaseCell>()
  for (const trial of trials) {
    const key = groupOf(trial)
    let cell = cells.get(key)
    if (cell === undefined) {
      const { case: name, agent, model } = trial
      const counts = { pass: 0, fail: 0, infra: 0, invalid: 0 }
      cell = { case: name, agent, model, counts, costUsd: null, durationMs: 0 }
      cells.set(key, cell)
    }
    cell.counts[trial.verdict] += 1
    cell.durationMs += trial.duration_ms
    if (trial.cost_usd !== null) cell.costUsd = (cell.costUsd ?? 0) + trial.cost_usd
  }
  return [...cells.values()]
}

type Key = string | number | null

const keys: Readonly<Record<(typeof trialOrders)[number], (trial: TrialFacts) => Key>> = {
  plan: ({ trial_id }) => trial_id,
  case: ({ case: name }) => name,
  agent: ({ agent, model }) => `${agent}\n${model}`,
  verdict: ({ verdict }) => ['fail', 'invalid', 'infra', 'pass'].indexOf(verdict),
  score: ({ score }) => score,
  cost: ({ cost_usd }) => cost_usd,
  time: ({ duration_ms }) => duration_ms,
  started: ({ started_at }) => started_at,
}

/** Unknown values come last in ascending order. */
function order(a: Key, b: Key): number {
  if (a === b) return 0
  if (a === null) return 1
  return b === null || a < b ? -1 : 1
}

function equal(wanted: string | undefined, value: string): boolean {
  return wanted === undefined || wanted === value
}

function groupOf({ case: name, agent, model }: Pick<TrialFacts, 'case' | 'agent' | 'model'>): string {
  return `${name}\n${agent}\n${model}`
}

function wantedBy(only: NonNullable<TrialSelection['only']>, trials: readonly TrialFacts[]) {
  if (only === 'failures') return ({ verdict }: TrialFacts) => verdict === 'fail'
  if (only === 'errors') return ({ verdict }: TrialFacts) => verdict === 'infra' || verdict === 'invalid'
  const cells = caseCells(trials)
  if (only === 'flaky') {
    const flaky = new Set(cells.filter(({ counts }) => counts.pass > 0 && counts.fail > 0).map(groupOf))
    return (trial: TrialFacts) => flaky.has(groupOf(trial))
  }
  const different = new Set<string>()
  for (const [name, ofCase] of Map.groupBy(cells, (cell) => cell.case)) {
    const rates = ofCase.flatMap(({ counts: { pass, fail } }) =>
      pass + fail === 0 ? [] : pass / (pass + fail),
    )
    if (new Set(rates).size > 1) different.add(name)
  }
  return (trial: TrialFacts) => different.has(trial.case)
}
