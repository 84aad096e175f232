import type { AgentEnding, AgentEvent, Untimed } from '../../../core/event.ts'
import { asObject, asObjects, asString, type JsonObject } from '../../../core/json-fields.ts'
import { newUuid } from '../../../io/ids.ts'
import type { CliStart } from '../../cli/contract.ts'
import type { AgentOutcome, AskOptions, FailureReport, SessionRequest } from '../../contract.ts'
import { isStoppedByUs, passedLimit } from '../../limits.ts'
import { createUsageMeter } from '../../stream.ts'
import type { Conversation } from './conversation.ts'

/** Default time for an agent to stop after it has reached its turn limit. */
const defaultGraceMs = 5_000
const timerMaxMs = 2 ** 31 - 1

/**
 * One prompt of a session. At a time or turn limit the agent is asked to stop; if it does, the session stays open. A
 * cost limit ends the session.
 */
export async function askLive(
  conversation: Conversation,
  { name, warnings }: CliStart,
  request: SessionRequest,
  prompt: string,
  { timeoutMs = request.timeoutMs, maxTurns, interruptGraceMs }: AskOptions,
) {
  /** The message to which files can be rewound. */
  const messageId = newUuid()
  const meter = createUsageMeter()
  const turns = createTurnCounter(maxTurns)
  const failureBefore = conversation.parser.end().failure
  const apiMsBefore = conversation.apiMs()
  const deniedTools: string[] = []
  let finalText: string | null = null
  let limit: Limit | null = null

  /** A limit that an earlier prompt reached does not count for this one. */
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

  const onLine: Parameters<Conversation['send']>[1] = (line, events) => {
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
    turns.onLine(line)
    if (passedLimit(request, 0, conversation.parser.usage()) !== null) conversation.stop('over_budget')
    else if (turns.isPassed()) meet('over_turns', interruptGraceMs ?? defaultGraceMs)
  }
  let result: JsonObject | null = null
  try {
    await conversation.idle()
    if (limit === null) result = await conversation.send({ content: prompt, uuid: messageId }, onLine)
  } finally {
    clearTimeout(timer)
  }
  const met = limit as Limit | null
  // A late interrupt would hit the next prompt.
  await met?.interruption?.answered
  clearTimeout(met?.interruption?.timer)

  const { invalid, passed } = conversation.parser.end()
  const { ending, exitCode, words } = conversation.isAlive()
    ? { ...endingOf(result, met?.why ?? passed), words: null }
    : await conversation.ended()
  const failure = met === null ? freshFailure() : met.failure
  const isOver = words !== null && !isStoppedByUs(ending) && ending !== 'timed_out'
  const outcome: AgentOutcome = {
    ending,
    exitCode,
    finalText,
    ...meter.total(),
    turns: turns.count(),
    apiDurationMs: conversation.apiMs() - apiMsBefore,
    deniedTools,
    failure: isStoppedByUs(ending)
      ? null
      : (failure ?? (isOver ? { reason: 'unavailable', message: `agent ${name}: ${words}` } : null)),
    ...(invalid !== undefined && { invalid }),
    ...(warnings.length > 0 && { warnings }),
  }
  return { outcome, messageId }
}

interface Limit {
  readonly why: 'timed_out' | 'over_turns'
  /** The agent's failure when the limit was reached; later ones are caused by the stop. */
  readonly failure: FailureReport | null
  /** null when it was ended at once. */
  readonly interruption: ReturnType<typeof interrupt> | null
}

function interrupt(conversation: Conversation, why: Limit['why'], graceMs: number) {
  /** Ends an agent that does not stop. */
  const timer = setTimeout(conversation.stop, Math.min(graceMs, timerMaxMs), why)
  const answered = conversation.control({ subtype: 'interrupt' }, graceMs).then(({ kind }) => {
    if (kind === 'success') conversation.expectNoMore()
    else conversation.stop(why)
  })
  return { answered, timer }
}

/** A prompt that waited for background work has several results, each with the denials of its own turns. */
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

/** Counts the answers of the main model to one prompt. An agent at its limit that has all its tool results would call its model again, so it is over the limit. */
export function createTurnCounter(maxTurns = Number.POSITIVE_INFINITY) {
  const turns = new Set<unknown>()
  const open = new Set<unknown>()
  let isGoingOn = false
  return {
    see(event: Untimed<AgentEvent>): void {
      if (event.event === 'tool_call' && event.parent_id === undefined) open.add(event.id)
      if (event.event !== 'tool_result' || event.parent_id !== undefined || !open.delete(event.id)) return
      isGoingOn = open.size === 0 && turns.size >= maxTurns
    },
    onLine(line: JsonObject): void {
      const message = asObject(line.message)
      // Messages with this model are from Claude Code itself, such as a report of an API error.
      if (line.type !== 'assistant' || message?.model === '<synthetic>') return
      if (line.parent_tool_use_id === undefined || line.parent_tool_use_id === null) turns.add(message?.id)
    },
    count: () => turns.size,
    /** Whether it has exceeded, or is about to exceed, its limit. */
    isPassed: () => isGoingOn || turns.size > maxTurns,
  }
}
