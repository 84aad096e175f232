import { asObject } from '../core/json-fields.ts'
import type { Redaction } from '../core/redaction.ts'
import { isFile } from '../io/path-kind.ts'
import { readJsonl } from '../io/read-jsonl.ts'
import type { LiveRun } from '../store/contract.ts'
import { runFile } from '../store/run-paths.ts'
import type { ScoutName, TaskEvent, TaskStep } from './contract.ts'

/**
 * The finished steps of a task, stored in its run directory. A resumed task repeats the same steps and gets the stored results, so
 * nothing is paid for or counted twice. Work continues at the first step without a result.
 */
export type Journal = ReturnType<typeof openJournal>

const trial = 'task'
/** Version of the stored values. A step stored by another version is repeated. */
const edition = 1

/** What a run has stored, also one that has ended. */
export function keptIn<T>(run: Pick<LiveRun, 'checkpointOf'>, name: string): T | undefined {
  const found = asObject(run.checkpointOf(trial, name))
  return found?.edition === edition ? (found.value as T) : undefined
}

export function openJournal(run: LiveRun) {
  run.openTrial(trial)
  const keep = (name: string, value: unknown): void => run.checkpoint(trial, name, { edition, value })
  const kept = <T>(name: string): T | undefined => keptIn(run, name)
  return {
    /** Stores a fact within a step, such as that it has begun. */
    keep,
    /** undefined when nothing is stored under this name. */
    kept,
    /** Returns the stored result of the step, or does the work and stores the result. */
    step: async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const earlier = kept<T>(name)
      if (earlier !== undefined) return earlier
      const value = await work()
      keep(name, value)
      return value
    },
  }
}

/** Passes on the events of a task's tools, immediately or later. */
export type Feed = ReturnType<typeof openFeed>

export function openFeed(pass: (step: TaskStep) => void) {
  const held = new Map<ScoutName, TaskStep[]>()
  return {
    emit: (step: TaskStep): void => {
      const steps = 'scout' in step ? held.get(step.scout) : undefined
      if (steps === undefined) pass(step)
      else steps.push(step)
    },
    /** Collects the events of a Scout during the work and returns them with the result. */
    hold: async <T>(scout: ScoutName, work: () => Promise<T>) => {
      const keptSteps: TaskStep[] = []
      held.set(scout, keptSteps)
      try {
        return { result: await work(), keptSteps }
      } finally {
        held.delete(scout)
      }
    },
  }
}

interface TaskLogOptions {
  readonly run: LiveRun
  readonly taskId: string
  readonly redaction: Redaction
  readonly now: () => Date
  readonly onEvent: (event: TaskEvent) => void
}

/**
 * Redacts events, writes them to the run and emits them. A resumed task repeats its earlier steps, but not the events already
 * emitted for them.
 */
export async function openTaskLog(options: TaskLogOptions): Promise<(step: TaskStep) => void> {
  const { run, taskId, redaction, now, onEvent } = options
  const emitted = await emittedBefore(runFile.events(run.dir))
  return (step) => {
    const redacted = redaction.value(step) as TaskStep
    const key = JSON.stringify(redacted)
    const count = emitted.get(key) ?? 0
    if (count > 0) {
      emitted.set(key, count - 1)
      return
    }
    const event: TaskEvent = { ts: now().getTime() / 1000, task_id: taskId, ...redacted }
    run.appendEvent(event)
    onEvent(event)
  }
}

async function emittedBefore(path: string): Promise<Map<string, number>> {
  const emitted = new Map<string, number>()
  if (!isFile(path)) return emitted
  for await (const { ts: _, task_id: __, ...step } of readJsonl<TaskEvent>(path)) {
    const key = JSON.stringify(step)
    emitted.set(key, (emitted.get(key) ?? 0) + 1)
  }
  return emitted
}
