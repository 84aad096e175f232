import type { TrialRecord } from '../core/trial.ts'
import type { Verdict } from '../core/verdict.ts'
import type { FinishedRun } from './contract.ts'

export interface CaseTotals {
  readonly counts: Record<Verdict, number>
  durationMs: number
}

/**
 * Totals per case, and the records grouped by case. If a plan interleaves its cases, the records are read several times, a batch
 * of cases at a time, so that memory does not grow with the run.
 */
export async function recordsByCase(
  run: FinishedRun,
  /** Failures that count as passed. */
  isAllowed: (record: TrialRecord) => boolean = () => false,
  batchTrials = 500,
) {
  const cases = new Map<string, CaseTotals>()
  let blocks = 0
  let last: string | null = null
  for await (const record of run.records()) {
    const { case: name, verdict, durationMs } = record
    if (name !== last) blocks += 1
    last = name
    const tally = cases.get(name) ?? { counts: { pass: 0, fail: 0, infra: 0, invalid: 0 }, durationMs: 0 }
    tally.counts[isAllowed(record) ? 'pass' : verdict] += 1
    tally.durationMs += durationMs
    cases.set(name, tally)
  }
  const together = blocks === cases.size
  return { cases, records: together ? run.records : () => regrouped(run, batches(cases, batchTrials)) }
}

export function tallied({ counts }: CaseTotals): number {
  return counts.pass + counts.fail + counts.infra + counts.invalid
}

async function* regrouped(run: FinishedRun, batches: readonly string[][]): AsyncGenerator<TrialRecord> {
  for (const batch of batches) {
    const [only, ...others] = batch
    if (only !== undefined && others.length === 0) {
      for await (const record of run.records()) if (record.case === only) yield record
      continue
    }
    const held = new Map(batch.map((name): [string, TrialRecord[]] => [name, []]))
    for await (const record of run.records()) held.get(record.case)?.push(record)
    for (const records of held.values()) yield* records
  }
}

function batches(cases: ReadonlyMap<string, CaseTotals>, batchTrials: number): string[][] {
  const found: string[][] = []
  let room = 0
  for (const [name, tally] of cases) {
    const size = tallied(tally)
    const current = found.at(-1)
    if (current !== undefined && size <= room) current.push(name)
    else {
      found.push([name])
      room = batchTrials
    }
    room -= size
  }
  return found
}
