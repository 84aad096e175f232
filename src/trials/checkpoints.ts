import { namesIn } from '../io/directory.ts'
import type { LiveRun } from '../store/contract.ts'
import type { AttemptOrder } from './contract.ts'

/** Stages inside a trial that survive kill -9, so they are not done or paid for twice. */
export type Checkpoints = ReturnType<typeof openCheckpoints>

/** The checkpoints of one attempt. It reads those it was given, and writes to the run. */
export function openCheckpoints(run: LiveRun, trialId: string, stages: AttemptOrder<unknown>['stages']) {
  return {
    /** undefined when the stage has not been finished. */
    read: (name: string): unknown => stages[name],
    write: (name: string, value: unknown): void => run.checkpoint(trialId, name, value),
  }
}

/** What an interrupted attempt at a trial left, by name. */
export function readCheckpoints(run: LiveRun, trialId: string): AttemptOrder<unknown>['stages'] {
  const names = namesIn(run.trialDir(trialId)).flatMap(
    (file) => /^checkpoint-(.+)\.json$/.exec(file)?.[1] ?? [],
  )
  const stages = names.map((name) => [name, run.checkpointOf(trialId, name)] as const)
  return Object.fromEntries(stages.filter(([, value]) => value !== undefined))
}
