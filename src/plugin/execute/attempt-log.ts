import type { AgentOutcome } from '../../agents/contract.ts'
import { foldUsageByModel, tokensOf } from '../../analysis/usage-by-model.ts'
import type { AgentEvent, SpawnEvent, Untimed, UsageEvent } from '../../core/event.ts'
import { randomSuffix } from '../../io/ids.ts'
import { type PriceTable, price } from '../../models/price-table.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import type { SetupMessage } from '../generate/contract.ts'
import type { TranscriptError, TranscriptEvent } from './contract.ts'

export interface AttemptLogOptions {
  readonly recorder: EventRecorder
  readonly spawned: Untimed<SpawnEvent> | null
  readonly prices: PriceTable
  /** Whether the attempt may not cost that much; `onOver` is called then. */
  readonly isOverLimit: (costUsd: number) => boolean
  readonly onOver: () => void
}

export type AttemptLog = ReturnType<typeof openAttemptLog>

/** The event log of one attempt: written as events arrive, and folded into usage, transcript and errors. */
export function openAttemptLog(options: AttemptLogOptions) {
  const { recorder, spawned } = options
  const transcript = foldTranscript()
  const usage = foldUsageByModel()
  const errors: TranscriptError[] = []
  const calls = new Set<string>()
  const isOver = costWatch(options)
  if (spawned !== null) recorder.emit(spawned)

  /** A result or subagent message for a call that was not made here belongs to an earlier conversation. */
  const isLate = (event: Untimed<AgentEvent>): boolean => {
    if ('parent_id' in event && event.parent_id !== undefined && !calls.has(event.parent_id)) return true
    return event.event === 'tool_result' && event.id !== undefined && !calls.has(event.id)
  }
  return {
    take(event: Untimed<AgentEvent>, timestamp: number): void {
      if (isLate(event)) return
      if (event.event === 'tool_call' && event.id !== undefined) calls.add(event.id)
      recorder.emit(event)
      transcript.add(event, timestamp)
      if (event.event === 'usage') {
        usage.add({ ts: timestamp / 1_000, ...event })
        if (isOver(event)) options.onOver()
      }
      if (event.event === 'error')
        errors.push({
          type: 'error',
          error_type: 'api_error',
          message: event.message,
          timestamp: new Date(timestamp).toISOString(),
          recoverable: true,
        })
    },
    raw: recorder.transcript,
    say: transcript.say,
    turns: transcript.turns,
    events: transcript.events,
    usage: usage.finish,
    /** Failures the agent reported while it worked. */
    errors: (): readonly TranscriptError[] => [...errors],
    /** Every log begins with the start of the process and ends with the completion, even when several share a process. */
    complete({ exitCode, ending }: AgentOutcome, durationMs: number): void {
      recorder.emit({ event: 'complete', exit_code: exitCode, duration_secs: durationMs / 1_000, ending })
    },
    close: recorder.close,
  }
}

/** Prices are reported only at the end of a turn; until then, tokens are priced as they arrive. */
function costWatch({ isOverLimit, prices }: AttemptLogOptions): (event: Untimed<UsageEvent>) => boolean {
  let toldUsd = 0
  let pricedUsd = 0
  return (event) => {
    toldUsd += event.cost_usd ?? 0
    if (event.model !== undefined) pricedUsd += price(event.model, tokensOf(event), prices) ?? 0
    return isOverLimit(Math.max(toldUsd, pricedUsd))
  }
}

/** The conversation in the format v3.0: an answer contains the tool calls it made. */
export function foldTranscript() {
  const events: TranscriptEvent[] = []
  /** Answers that may still get a call, by the subagent that wrote them. */
  const open = new Map<string, number>()
  let turns = 0

  const speak = (
    role: 'user' | 'assistant',
    content: string,
    timestamp: number,
    parent: string | undefined,
  ) => {
    events.push({
      id: eventId(timestamp),
      type: role,
      edit: { message: { role, content } },
      ...(parent !== undefined && { parent_tool_use_id: parent }),
    })
    if (role === 'user') open.delete(parent ?? '')
    else answer(parent)
  }
  /** Parts of an answer are joined until a result or a message of another author follows. */
  const answer = (parent: string | undefined): void => {
    if (parent === undefined && !open.has('')) turns += 1
    open.set(parent ?? '', events.length - 1)
  }
  const call = (
    { id = '', tool, input, parent_id }: Extract<Untimed<AgentEvent>, { event: 'tool_call' }>,
    timestamp: number,
  ) => {
    if (!open.has(parent_id ?? '')) speak('assistant', '', timestamp, parent_id)
    const at = open.get(parent_id ?? '') ?? -1
    const spoken = events[at] as Extract<TranscriptEvent, { type: 'user' | 'assistant' }>
    const { message } = spoken.edit
    const tool_calls = [...(message.tool_calls ?? []), { id, name: tool, input }]
    events[at] = { ...spoken, edit: { message: { ...message, tool_calls } } }
  }

  return {
    /** Adds the setup messages and the prompt, which the agent does not repeat. */
    say: ({ role, content }: SetupMessage, timestamp: number): void => {
      speak(role, content, timestamp, undefined)
      if (role === 'assistant') {
        turns -= 1
        open.delete('')
      }
    },
    add(event: Untimed<AgentEvent>, timestamp: number): void {
      switch (event.event) {
        case 'message':
          if (event.role === 'assistant' || event.role === 'user')
            speak(event.role, event.text, timestamp, event.parent_id)
          return
        case 'tool_call':
          call(event, timestamp)
          return
        case 'tool_result':
          events.push({
            id: eventId(timestamp),
            type: 'tool_result',
            tool_use_id: event.id ?? '',
            result: event.output,
            ...(event.is_error !== undefined && { is_error: event.is_error }),
            ...(event.parent_id !== undefined && { parent_tool_use_id: event.parent_id }),
          })
          open.delete(event.parent_id ?? '')
          return
        default:
          return
      }
    },
    events: (): readonly TranscriptEvent[] => [...events],
    /** Answers of the model on the main thread. */
    turns: (): number => turns,
  }
}

function eventId(timestamp: number): string {
  return `evt_${Math.round(timestamp)}_${randomSuffix(6)}`
}
