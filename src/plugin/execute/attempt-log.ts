import type { AgentOutcome } from '../../agents/contract.ts'
import { foldUsageByModel, type UsageFold } from '../../analysis/usage-by-model.ts'
import type { AgentEvent, SpawnEvent, Untimed } from '../../core/event.ts'
import type { ModelUsage } from '../../core/trial.ts'
import { systemClock } from '../../io/clock.ts'
import { type PriceTable, price } from '../../models/pricing.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import type { TranscriptError } from './contract.ts'
import { foldTranscript, type TranscriptFold } from './fold-transcript.ts'

export interface AttemptLogOptions {
  readonly recorder: EventRecorder
  readonly spawned: Untimed<SpawnEvent> | null
  readonly prices: PriceTable
  /** What the attempt may cost; `onOver` is called once when it costs more. */
  readonly maxCostUsd: number | undefined
  readonly onOver: () => void
}

/** What happens in one attempt: written down as it comes, and folded into what is told of it. */
export interface AttemptLog extends Pick<TranscriptFold, 'say' | 'turns'> {
  take(event: Untimed<AgentEvent>, timestamp: number): void
  raw(chunk: Uint8Array): void
  usage(): readonly ModelUsage[]
  events: TranscriptFold['events']
  /** Failures the agent told of while it worked. */
  errors(): readonly TranscriptError[]
  /** In every log the process is started first and the work is complete last, however many share the process. */
  complete(outcome: AgentOutcome, durationMs: number): void
  close(): void
}

export function openAttemptLog(options: AttemptLogOptions): AttemptLog {
  const { recorder, spawned } = options
  const transcript = foldTranscript()
  const usage = foldUsageByModel()
  const errors: TranscriptError[] = []
  const calls = new Set<string>()
  const isOver = costWatch(options)
  if (spawned !== null) recorder.emit(spawned)

  /** A result or a subagent's words for a call that was not made here come from an earlier conversation. */
  const isLate = (event: Untimed<AgentEvent>): boolean => {
    if ('parent_id' in event && event.parent_id !== undefined && !calls.has(event.parent_id)) return true
    return event.event === 'tool_result' && event.id !== undefined && !calls.has(event.id)
  }
  return {
    take(event, timestamp) {
      if (isLate(event)) return
      if (event.event === 'tool_call' && event.id !== undefined) calls.add(event.id)
      recorder.emit(event)
      transcript.add(event, timestamp)
      if (event.event === 'usage') {
        fold(usage, event)
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
    errors: () => [...errors],
    complete({ exitCode, ending }, durationMs) {
      recorder.emit({ event: 'complete', exit_code: exitCode, duration_secs: durationMs / 1_000, ending })
    },
    close: recorder.close,
  }
}

function fold(usage: UsageFold, event: Extract<Untimed<AgentEvent>, { event: 'usage' }>): void {
  usage.add({ ts: systemClock.now().getTime() / 1_000, ...event })
}

/** Prices are told at the end of a turn only; until then the tokens are priced as they come. */
function costWatch({
  maxCostUsd,
  prices,
}: AttemptLogOptions): (event: Extract<Untimed<AgentEvent>, { event: 'usage' }>) => boolean {
  let toldUsd = 0
  let pricedUsd = 0
  return ({ model, cost_usd, ...tokens }) => {
    toldUsd += cost_usd ?? 0
    pricedUsd +=
      (model === undefined
        ? null
        : price(
            model,
            {
              input: tokens.input_tokens,
              output: tokens.output_tokens,
              cacheRead: tokens.cache_read_tokens ?? 0,
              cacheWrite: tokens.cache_write_tokens ?? 0,
            },
            prices,
          )) ?? 0
    return maxCostUsd !== undefined && Math.max(toldUsd, pricedUsd) > maxCostUsd
  }
}
