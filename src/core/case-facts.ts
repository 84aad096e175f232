import { createMean } from './case-tally.ts'
import type { TrialRecord } from './trial.ts'
import { isCounted } from './verdict.ts'

/** The data of a case's trials that later runs are compared with. Plain data, because it is stored. */
export interface CaseFacts {
  readonly case: string
  readonly agent: string
  readonly model: string
  /** Counted trials. */
  readonly trials: number
  readonly passes: number
  readonly gates: readonly GateFacts[]
  readonly meanScore: number | null
  readonly meanCostUsd: number | null
}

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
>

export function createFacts() {
  const groups = new Map<string, ReturnType<typeof createGroup>>()
  return {
    add: (record: FactsSource): void => {
      if (!isCounted(record.verdict)) return
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
  const costUsd = createMean()
  let trials = 0
  let passes = 0
  return {
    add: (record: FactsSource): void => {
      trials += 1
      if (record.verdict === 'pass') passes += 1
      if (record.score !== null) score.add(record.score)
      if (record.costUsd !== null) costUsd.add(record.costUsd)
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
      trials,
      passes,
      gates: [...gates.values()].sort((a, b) => a.index - b.index),
      meanScore: score.value(),
      meanCostUsd: costUsd.value(),
    }),
  }
}
