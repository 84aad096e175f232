import type { Redaction } from '../core/redaction.ts'
import { isFile } from '../io/path-kind.ts'
import { readJsonl } from '../io/read-jsonl.ts'
import type { LiveRun } from '../store/contract.ts'
import { runFile } from '../store/run-paths.ts'
import type { TaskEvent, TaskStep } from './contract.ts'

/**
 * What a task has finished, kept in its run directory. A task that is taken up again walks through the same steps: those that are
 * kept give back what they came to, so that nothing is paid for or counted twice; the first one that is not is done.
 */
export interface Journal {
  /** What the step came to, now or in an earlier process. It is kept before this returns. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Keeps a fact on the way to a step, such as that it was begun. */
  keep(name: string, value: unknown): void
  /** undefined when nothing was kept under this name. */
  kept<T>(name: string): T | undefined
}

const trial = 'task'
/** Of the shape of what is kept: what another version wrote is done again. */
const edition = 1

export function openJournal(run: LiveRun): Journal {
  run.openTrial(trial)
  const keep = (name: string, value: unknown): void => run.checkpoint(trial, name, { edition, value })
  const kept = <T>(name: string): T | undefined => {
    const found = run.checkpointOf(trial, name)
    return isEntry(found) ? (found.value as T) : undefined
  }
  return {
    keep,
    kept,
    step: async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      const earlier = kept<T>(name)
      if (earlier !== undefined) return earlier
      const value = await work()
      keep(name, value)
      return value
    },
  }
}

function isEntry(value: unknown): value is { readonly edition: number; readonly value: unknown } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'edition' in value &&
    value.edition === edition &&
    'value' in value
  )
}

/** Passes on the events of a task's tools, at once or later. */
export interface Feed {
  readonly emit: (step: TaskStep) => void
  /** Events emitted meanwhile are not passed on but returned with the result. */
  hold<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly told: readonly TaskStep[] }>
}

export function openFeed(pass: (step: TaskStep) => void): Feed {
  let held: TaskStep[] | null = null
  return {
    emit: (step) => {
      if (held === null) pass(step)
      else held.push(step)
    },
    hold: async (work) => {
      const told: TaskStep[] = []
      held = told
      try {
        return { result: await work(), told }
      } finally {
        held = null
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
 * Emits events, redacted, and writes them to the run first. A resumed task repeats its earlier steps; the events that
 * were emitted for them before are not emitted again.
 */
export async function openTaskLog(options: TaskLogOptions): Promise<(step: TaskStep) => void> {
  const { run, taskId, redaction, now, onEvent } = options
  const told = await toldBefore(runFile.events(run.dir))
  return (step) => {
    const redacted = redaction.value(step) as TaskStep
    const key = JSON.stringify(redacted)
    const count = told.get(key) ?? 0
    if (count > 0) {
      told.set(key, count - 1)
      return
    }
    const event: TaskEvent = { ts: now().getTime() / 1000, task_id: taskId, ...redacted }
    run.appendEvent(event)
    onEvent(event)
  }
}

async function toldBefore(path: string): Promise<Map<string, number>> {
  const told = new Map<string, number>()
  if (!isFile(path)) return told
  for await (const { ts: _, task_id: __, ...step } of readJsonl<TaskEvent>(path)) {
    const key = JSON.stringify(step)
    told.set(key, (told.get(key) ?? 0) + 1)
  }
  return told
}
