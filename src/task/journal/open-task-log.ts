import type { Redaction } from '../../core/redaction.ts'
import { isFile } from '../../io/path-kind.ts'
import { readJsonl } from '../../io/read-jsonl.ts'
import type { LiveRun } from '../../store/contract.ts'
import { runFile } from '../../store/run-paths.ts'
import type { TaskEvent, TaskStep } from '../contract.ts'

export interface TaskLogOptions {
  readonly run: LiveRun
  readonly taskId: string
  readonly redaction: Redaction
  readonly now: () => Date
  readonly onEvent: (event: TaskEvent) => void
}

/**
 * Tells what happens, redacted, and writes it down first. A task that is taken up again passes its earlier steps once more: what
 * was told of them before is not told again.
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
