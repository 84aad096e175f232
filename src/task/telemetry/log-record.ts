import { join } from 'node:path'
import { openAppendLog } from '../../io/append-log.ts'
import { makeDirectories } from '../../io/directory.ts'
import type { Store } from '../../store/contract.ts'
import type { TaskRecord } from '../../store/queue/contract.ts'
import { runFile } from '../../store/run-paths.ts'
import type { TaskEvent, TaskStep } from '../contract.ts'

/** A line of the structured log. Absent values are left out. */
export interface LogRecord {
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly level: 'debug' | 'info' | 'warning' | 'error' | 'critical'
  readonly component: 'editor' | 'scout_a' | 'scout_b' | 'verifier' | 'runner'
  readonly message: string
  readonly event_type?: string
  readonly task_id: string
  readonly run_id?: string
  readonly duration_ms?: number
  readonly extra?: Readonly<Record<string, unknown>>
}

const summaryChars = 200

/** What the structured log says of an event; null for what is only of use to who watches live. The log is a timeline by itself. */
export function logRecord(event: TaskEvent): LogRecord | null {
  const said = words(event)
  if (said === null) return null
  return { timestamp: new Date(event.ts * 1000).toISOString(), ...said, task_id: event.task_id }
}

type Said = Omit<LogRecord, 'timestamp' | 'task_id'>

function words(step: TaskStep): Said | null {
  switch (step.kind) {
    case 'task_started':
      return {
        level: 'info',
        component: 'runner',
        message: step.resumed ? 'task resumed' : 'task started',
        event_type: 'task_start',
        run_id: step.run_id,
        extra: {
          description: short(step.description),
          dry_run: step.dry_run,
          agent: step.agent,
          model: step.model,
          sandbox: step.sandbox,
        },
      }
    case 'state_transition':
      return {
        level: 'info',
        component: 'editor',
        message: `${step.from} to ${step.to}`,
        event_type: 'state_transition',
        extra: { from: step.from, to: step.to, reason: step.reason },
      }
    case 'scout_query':
      return {
        level: step.success ? 'info' : 'error',
        component: step.scout,
        message: step.success ? 'answered' : `failed: ${step.error ?? 'cancelled'}`,
        event_type: 'scout_query',
        duration_ms: step.duration_ms,
        extra: { scout: step.scout, summary: short(step.summary), success: step.success, tries: step.tries },
      }
    case 'scout_correction':
      return { level: 'warning', component: step.scout, message: step.what, event_type: 'scout_correction' }
    case 'conflict':
      return {
        level: 'info',
        component: 'editor',
        message: `${step.question}: ${step.decision}`,
        event_type: 'conflict',
        extra: { rationale: step.rationale },
      }
    case 'edit':
      return {
        level: 'info',
        component: 'editor',
        message: `${step.agent} ${step.ending}`,
        event_type: 'edit',
        duration_ms: step.duration_ms,
        extra: { files: step.files },
      }
    case 'verifier_trigger':
      return {
        level: 'info',
        component: 'verifier',
        message: `attempt ${step.attempt}`,
        event_type: 'verifier_trigger',
        run_id: step.run_id,
        extra: { attempt: step.attempt },
      }
    case 'verifier_result':
      return {
        level: step.status === 'PASS' ? 'info' : step.status === 'FAIL' ? 'warning' : 'critical',
        component: 'verifier',
        message: step.failure === null ? step.status : `${step.status}: ${step.failure}`,
        event_type: 'verifier_result',
        ...(step.run_id !== null && { run_id: step.run_id }),
        duration_ms: step.duration_ms,
        extra: { status: step.status, attempt: step.attempt },
      }
    case 'replan':
      return {
        level: 'warning',
        component: 'editor',
        message: `new strategy after attempt ${step.attempt}`,
        event_type: 'replan',
        extra: { attempt: step.attempt, strategy: short(step.strategy) },
      }
    case 'snapshot':
      return { level: 'info', component: 'editor', message: step.path, event_type: 'snapshot' }
    case 'note':
      return { level: step.level, component: 'runner', message: step.message, event_type: 'note' }
    case 'task_ended':
      return {
        level: step.state === 'SUCCESS' || step.state === 'CANCELLED' ? 'info' : 'error',
        component: 'runner',
        message: `${step.state}: ${step.reason}`,
        event_type: 'task_end',
        duration_ms: step.duration_ms,
        extra: {
          final_state: step.state,
          attempts: step.attempts,
          replans: step.replans,
          run_ids: step.run_ids,
        },
      }
    case 'milestone':
    case 'agent':
    case 'verifier_output':
    case 'diagnosis':
    case 'diff':
      return null
  }
}

function short(text: string): string {
  return text.length <= summaryChars ? text : text.slice(0, summaryChars)
}

/** `logs/task.jsonl` of the task's run. Lines from before the run exists are held back and written when it opens. */
export function openStructuredLog(store: Store, task: TaskRecord) {
  const waiting: string[] = []
  let log: ReturnType<typeof openAppendLog> | null = null
  const open = (runId: string): void => {
    if (log !== null) return
    const directory = runFile.logs(join(store.runsDir, runId))
    makeDirectories(directory)
    log = openAppendLog(join(directory, 'task.jsonl'))
    for (const line of waiting.splice(0)) log.append(line)
  }
  if (task.task_run_id !== null) open(task.task_run_id)
  return {
    open,
    append: (event: TaskEvent): void => {
      const record = logRecord(event)
      if (record === null) return
      const line = `${JSON.stringify(record)}\n`
      if (log === null) waiting.push(line)
      else log.append(line)
    },
    close: (): void => log?.close(),
  }
}
