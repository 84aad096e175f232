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

/** The line of the structured log for an event; null for events that matter only to a live viewer. */
export function logRecord(event: TaskEvent): LogRecord | null {
  const record = words(event)
  if (record === null) return null
  return { timestamp: new Date(event.ts * 1000).toISOString(), ...record, task_id: event.task_id }
}

/** Every line has the time and the run of its event. */
function words(step: TaskStep): Omit<LogRecord, 'timestamp' | 'task_id'> | null {
  const line = (
    level: LogRecord['level'],
    component: LogRecord['component'],
    message: string,
    extra?: LogRecord['extra'],
  ) => ({
    level,
    component,
    message,
    event_type: step.kind.replace(/^task_(start|end)ed$/, 'task_$1'),
    ...('run_id' in step && step.run_id !== null && { run_id: step.run_id }),
    ...('duration_ms' in step && { duration_ms: step.duration_ms }),
    ...(extra !== undefined && { extra }),
  })
  switch (step.kind) {
    case 'task_started': {
      const { dry_run, agent, model, sandbox } = step
      const extra = { description: short(step.description), dry_run, agent, model, sandbox }
      return line('info', 'runner', step.resumed ? 'task resumed' : 'task started', extra)
    }
    case 'state_transition': {
      const { from, to, reason } = step
      return line('info', 'editor', `${from} to ${to}`, { from, to, reason })
    }
    case 'scout_query': {
      const { scout, success, tries } = step
      const message = success ? 'answered' : `failed: ${step.error ?? 'cancelled'}`
      const extra = { scout, summary: short(step.summary), answer: step.answer ?? null, success, tries }
      return line(success ? 'info' : 'error', scout, message, extra)
    }
    case 'scout_correction':
      return line('warning', step.scout, step.what)
    case 'conflict':
      return line('info', 'editor', `${step.question}: ${step.decision}`, { rationale: step.rationale })
    case 'edit':
      return line('info', 'editor', `${step.agent} ${step.ending}`, { files: step.files })
    case 'baseline': {
      const { status, tests, failures, reused } = step
      return line('info', 'verifier', `baseline ${status}`, { status, tests, failures, reused })
    }
    case 'accepted':
      return line('info', 'runner', `accepted by ${step.by}`)
    case 'told':
      return line('info', 'runner', `message: ${short(step.text)}`)
    case 'question':
      return line('info', 'editor', `question: ${short(step.text)}`)
    case 'change':
      return line(
        'info',
        'runner',
        `change ${step.what}`,
        step.branch === undefined ? {} : { branch: step.branch },
      )
    case 'verifier_trigger':
      return line('info', 'verifier', `attempt ${step.attempt}`, { attempt: step.attempt })
    case 'verifier_result': {
      const { status, attempt, failure } = step
      const level = ({ PASS: 'info', FAIL: 'warning', INFRA_ERROR: 'critical' } as const)[status]
      return line(level, 'verifier', failure === null ? status : `${status}: ${failure}`, { status, attempt })
    }
    case 'replan': {
      const { attempt, strategy } = step
      const message = `new strategy after attempt ${attempt}`
      return line('warning', 'editor', message, { attempt, strategy: short(strategy) })
    }
    case 'snapshot':
      return line('info', 'editor', step.path)
    case 'note':
      return line(step.level, 'runner', step.message)
    case 'task_ended': {
      const { state, reason, attempts, replans, run_ids } = step
      const level = state === 'SUCCESS' || state === 'CANCELLED' ? 'info' : 'error'
      const weakened = step.weakened === undefined ? {} : { weakened: step.weakened }
      const extra = { final_state: state, attempts, replans, run_ids, ...weakened }
      return line(level, 'runner', `${state}: ${reason}`, extra)
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
  return text.slice(0, summaryChars)
}

/** `logs/task.jsonl` of the task's run. Lines from before the run exists are buffered and written when it opens. */
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
