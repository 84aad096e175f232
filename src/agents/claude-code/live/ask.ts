import type { AgentEnding, AgentEvent, Untimed } from '../../../core/event.ts'
import { asObject, asObjects, asString, type JsonObject } from '../../../core/json-fields.ts'
import type { CliStart } from '../../cli/contract.ts'
import type { AgentOutcome, AskOptions, FailureReport, SessionRequest } from '../../contract.ts'
import { isStoppedByUs, passedLimit } from '../../limits.ts'
import { createUsageMeter } from '../../usage-meter.ts'
import type { Conversation } from './conversation.ts'
import { newMessageId } from './exchanges.ts'

/** How long an agent that is asked to stop for its turns has to do so, by default. */
const defaultGraceMs = 5_000
const timerMaxMs = 2 ** 31 - 1

export interface LiveAnswer {
  readonly outcome: AgentOutcome
  /** The message by which files can be put back to what they were before it. */
  readonly messageId: string
}

/**
 * One prompt of a session. At a limit of time or turns the agent is asked to stop, and if it does the session lives on; a
 * limit of money is the end of it.
 */
export async function askLive(
  conversation: Conversation,
  { name, warnings }: CliStart,
  request: SessionRequest,
  prompt: string,
  { timeoutMs = request.timeoutMs, maxTurns, interruptGraceMs }: AskOptions,
): Promise<LiveAnswer> {
  const messageId = newMessageId()
  const meter = createUsageMeter()
  const turns = createTurnCounter(maxTurns)
  const failureBefore = conversation.parser.end().failure
  const apiMsBefore = conversation.apiMs()
  const deniedTools: string[] = []
  let finalText: string | null = null
  let limit: Limit | null = null

  /** One that an earlier prompt met says nothing about this one. */
  const freshFailure = (): FailureReport | null => {
    const { failure } = conversation.parser.end()
    return failure === failureBefore ? null : failure
  }
  const meet = (why: Limit['why'], graceMs: number | undefined): void => {
    if (limit !== null || !conversation.isAlive()) return
    const failure = freshFailure()
    if (graceMs === undefined) conversation.stop(why)
    limit = {
      why,
      failure,
      interruption: graceMs === undefined ? null : interrupt(conversation, why, graceMs),
    }
  }
  const timer = setTimeout(meet, Math.min(timeoutMs, timerMaxMs), 'timed_out', interruptGraceMs)

  const hear: Parameters<Conversation['tell']>[1] = (line, events) => {
    for (const event of events) {
      if (event.event === 'usage') meter.add(event)
      if (event.event === 'message' && event.role === 'assistant' && event.parent_id === undefined)
        finalText = event.text
      turns.see(event)
    }
    if (line.type === 'result') {
      finalText = asString(line.result) || finalText
      deniedTools.push(...deniedIn(line))
    }
    turns.hear(line)
    if (passedLimit(request, 0, conversation.parser.usage()) !== null) conversation.stop('over_budget')
    else if (turns.isPassed()) meet('over_turns', interruptGraceMs ?? defaultGraceMs)
  }
  let result: JsonObject | null = null
  try {
    await conversation.idle()
    if (limit === null) result = await conversation.tell({ content: prompt, uuid: messageId }, hear)
  } finally {
    clearTimeout(timer)
  }
  const met = limit as Limit | null
  // One that is still on its way would hit the next prompt.
  await met?.interruption?.answered
  clearTimeout(met?.interruption?.timer)

  const { invalid, passed } = conversation.parser.end()
  const { ending, exitCode, words } = conversation.isAlive()
    ? { ...endingOf(result, met?.why ?? passed), words: null }
    : await conversation.ended()
  const failure = met === null ? freshFailure() : met.failure
  const isOver = words !== null && !isStoppedByUs(ending) && ending !== 'timed_out'
  const outcome = {
    ending,
    exitCode,
    finalText,
    ...meter.total(),
    turns: turns.count(),
    apiDurationMs: conversation.apiMs() - apiMsBefore,
    deniedTools,
    failure: isStoppedByUs(ending)
      ? null
      : (failure ?? (isOver ? { reason: 'unavailable' as const, message: `agent ${name}: ${words}` } : null)),
    ...(invalid !== undefined && { invalid }),
    ...(warnings.length > 0 && { warnings }),
  }
  return { outcome, messageId }
}

interface Limit {
  readonly why: 'timed_out' | 'over_turns'
  /** What stood in the agent's way when the limit was met; what follows is our doing. */
  readonly failure: FailureReport | null
  /** null when it was ended at once. */
  readonly interruption: Interruption | null
}

interface Interruption {
  readonly answered: Promise<void>
  /** Ends an agent that goes on all the same. */
  readonly timer: NodeJS.Timeout
}

function interrupt(conversation: Conversation, why: Limit['why'], graceMs: number): Interruption {
  const timer = setTimeout(conversation.stop, Math.min(graceMs, timerMaxMs), why)
  const answered = conversation.control({ subtype: 'interrupt' }, graceMs).then(({ kind }) => {
    if (kind === 'success') conversation.expectNoMore()
    else conversation.stop(why)
  })
  return { answered, timer }
}

/** A prompt that waited for others in the background has several results, each with what was denied in its own turns. */
function deniedIn(result: JsonObject): readonly string[] {
  return asObjects(result.permission_denials).map(({ tool_name }) => asString(tool_name) ?? 'unknown')
}

function endingOf(
  result: JsonObject | null,
  limit: AgentEnding | undefined,
): Pick<AgentOutcome, 'ending' | 'exitCode'> {
  if (limit !== undefined) return { ending: limit, exitCode: null }
  return { ending: 'exited', exitCode: result?.is_error === true ? 1 : 0 }
}

/** Counts the answers of the main model to one prompt. */
interface TurnCounter {
  see(event: Untimed<AgentEvent>): void
  hear(line: JsonObject): void
  count(): number
  /** It has gone on, or is about to go on, past its limit. */
  isPassed(): boolean
}

/** An agent at its limit that has the results of all its tools would ask its model again: there it is over. */
export function createTurnCounter(maxTurns = Number.POSITIVE_INFINITY): TurnCounter {
  const turns = new Set<unknown>()
  const open = new Set<unknown>()
  let isGoingOn = false
  return {
    see(event) {
      if (event.event === 'tool_call' && event.parent_id === undefined) open.add(event.id)
      if (event.event !== 'tool_result' || event.parent_id !== undefined || !open.delete(event.id)) return
      isGoingOn = open.size === 0 && turns.size >= maxTurns
    },
    hear(line) {
      const message = asObject(line.message)
      // Messages under this model are its own, e.g. a report of an API error.
      if (line.type !== 'assistant' || message?.model === '<synthetic>') return
      if (line.parent_tool_use_id === undefined || line.parent_tool_use_id === null) turns.add(message?.id)
    },
    count: () => turns.size,
    isPassed: () => isGoingOn || turns.size > maxTurns,
  }
}
