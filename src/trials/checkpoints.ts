import { namesIn } from '../io/directory.ts'
import type { LiveRun } from '../store/contract.ts'
import type { AttemptOrder } from './contract.ts'

/** Stages inside a trial that survive kill -9, so they are not done or paid for twice. */
export interface Checkpoints {
  /** undefined when the stage has not been finished. */
  read(name: string): unknown
  write(name: string, value: unknown): void
}

/** The checkpoints of one attempt. It reads those it was given, and writes to the run. */
export function openCheckpoints(
  run: LiveRun,
  trialId: string,
  stages: AttemptOrder<unknown>['stages'],
): Checkpoints {
  return { read: (name) => stages[name], write: (name, value) => run.checkpoint(trialId, name, value) }
}

/** What an interrupted attempt at a trial left, by name. */
export function readCheckpoints(run: LiveRun, trialId: string): AttemptOrder<unknown>['stages'] {
  const names = namesIn(run.trialDir(trialId)).flatMap(
    (file) => /^checkpoint-(.+)\.json$/.exec(file)?.[1] ?? [],
  )
  const stages = names.map((name) => [name, run.checkpointOf(trialId, name)] as const)
  return Object.fromEntries(stages.filter(([, value]) => value !== undefined))
}
