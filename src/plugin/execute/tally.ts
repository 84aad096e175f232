import { addCost } from '../../core/add-cost.ts'
import type { Execution } from './contract.ts'
import type { DroppedTrial } from './load/drop-unconnected.ts'
import type { ExecutionReport } from './request.ts'

/** Counts what becomes of the trials. */
export interface Tally {
  kept(execution: Execution): void
  /** A trial that is still to be made, and what was paid for it nevertheless. */
  notRun(trialId: string, lostUsd?: number | null): void
  dropped(trials: readonly DroppedTrial[]): void
  process(): void
  /** The budget is used up: nothing more begins. */
  outOfBudget(): void
  isOutOfBudget(): boolean
  report(): Omit<ExecutionReport, 'duration_ms' | 'load' | 'stopped'>
}

export function createTally(): Tally {
  const counts = { executed: 0, infra: 0, invalid: 0, processes: 0 }
  const dropped: DroppedTrial[] = []
  const notRun: string[] = []
  const needsRecording = new Set<string>()
  let costUsd: number | null = 0
  let lostUsd = 0
  let isOut = false
  return {
    kept({ cost_usd, failure, invalid, needs_recording, scenario_id }) {
      counts.executed += 1
      if (invalid !== undefined) counts.invalid += 1
      else if (failure !== undefined) counts.infra += 1
      if (needs_recording === true) needsRecording.add(scenario_id)
      costUsd = addCost(costUsd, cost_usd)
    },
    notRun(trialId, usd = 0) {
      notRun.push(trialId)
      lostUsd += usd ?? 0
      costUsd = addCost(costUsd, usd)
    },
    dropped: (trials) => {
      dropped.push(...trials)
    },
    process: () => {
      counts.processes += 1
    },
    outOfBudget: () => {
      isOut = true
    },
    isOutOfBudget: () => isOut,
    report: () => ({
      ...counts,
      cost_usd: costUsd,
      lost_cost_usd: lostUsd,
      dropped: [...dropped],
      not_run: [...notRun],
      needs_recording: [...needsRecording],
    }),
  }
}
