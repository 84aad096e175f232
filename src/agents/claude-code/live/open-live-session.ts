import { setTimeout as sleep } from 'node:timers/promises'
import { asObjects, asString, type JsonObject } from '../../../core/json-fields.ts'
import type { CliStart } from '../../cli/contract.ts'
import type {
  AgentOutcome,
  AgentSession,
  LoadedParts,
  RecalledMessage,
  SessionRequest,
} from '../../contract.ts'
import { unstartedSession } from '../../process/not-started.ts'
import { askLive } from './ask.ts'
import { type Conversation, openTalk } from './conversation.ts'
import { createHookCallbacks, type HookCallbacks } from './hook-callbacks.ts'
import { loadedParts } from './loaded-parts.ts'

/** A first start from a cold disk takes seconds; a program that takes longer does not know this protocol. */
const maxBeginMs = 60_000
const pollMs = 50

/**
 * One Claude Code process that answers prompt after prompt, by its control protocol. Time and turns are limited per prompt,
 * money for the whole session. What cannot be undone ends it: a conversation that was not forgotten, a message that was not
 * taken; the next prompt says so.
 */
export async function openLiveSession(start: CliStart, request: SessionRequest): Promise<AgentSession> {
  const [command, ...args] = start.argv
  if (request.signal.aborted) {
    request.emit({ event: 'spawn', command, args })
    return unstartedSession(start.name, request, 'it was stopped before it began')
  }
  const startedAt = performance.now()
  const { timeoutMs } = request
  const hooks = createHookCallbacks(request)
  const conversation = openTalk(start, request, hooks)
  const begun = await begin(conversation, hooks, Math.min(timeoutMs, maxBeginMs))
  let lastMessageId: string | null = null
  let isCompleted = false

  /** A step that belongs to no prompt of its own; whatever goes wrong in it is the end of the session. */
  const within = async (what: string, step: () => Promise<boolean>): Promise<void> => {
    if (conversation.isAsked()) throw new Error('a session answers one prompt at a time')
    if (!conversation.isAlive()) return
    const timer = setTimeout(
      () => conversation.stop('timed_out', `it did not ${what} within ${timeoutMs} ms`),
      Math.min(timeoutMs, 2 ** 31 - 1),
    )
    const isDone = await step().finally(() => clearTimeout(timer))
    if (!isDone && conversation.isAlive()) conversation.stop('crashed', `it did not ${what}`)
  }

  const clear = (): Promise<void> =>
    within('forget the conversation', async () => {
      await stopEverything(conversation, timeoutMs)
      const before = asString(conversation.about()?.session_id)
      const result = await conversation.tell({ content: '/clear', isQuiet: true })
      lastMessageId = null
      return (
        result !== null && result.is_error !== true && asString(conversation.about()?.session_id) !== before
      )
    })

  const recall = (messages: readonly RecalledMessage[]): Promise<void> =>
    within('take what was said before', async () => {
      await conversation.idle()
      for (const { role, content } of messages) {
        if (role === 'assistant') conversation.say(assistantLine(content))
        else if ((await conversation.tell({ content, shouldQuery: false, isQuiet: true })) === null)
          return false
      }
      return true
    })

  const loaded = async (): Promise<LoadedParts | null> => {
    if (begun === null) return null
    const servers = await settledServers(conversation, timeoutMs)
    if (conversation.about() === null) await clear()
    return loadedParts(begun, conversation.about(), servers)
  }

  return {
    async ask(prompt, options = {}): Promise<AgentOutcome> {
      if (!conversation.isAlive()) return tooLate(conversation, start.name)
      const { outcome, messageId } = await askLive(conversation, start, request, prompt, options)
      lastMessageId = messageId
      return outcome
    },
    clear,
    recall,
    async rewind() {
      if (lastMessageId === null)
        return { kind: 'refused', why: 'no prompt was asked since the conversation began' }
      const answer = await conversation.control(
        { subtype: 'rewind_files', user_message_id: lastMessageId },
        timeoutMs,
      )
      if (answer.kind === 'refused') return answer
      if (answer.kind === 'silent') return { kind: 'refused', why: 'it did not answer' }
      const { canRewind, error } = answer.response
      if (canRewind === true) return { kind: 'rewound' }
      return { kind: 'refused', why: asString(error) ?? 'it cannot put the files back' }
    },
    loaded,
    isAlive: conversation.isAlive,
    async close() {
      if (isCompleted) return
      isCompleted = true
      try {
        await conversation.finish()
      } finally {
        const { ending, exitCode } = await conversation.ended()
        const duration_secs = (performance.now() - startedAt) / 1_000
        request.emit({ event: 'complete', exit_code: exitCode, duration_secs, ending })
      }
    },
  }
}

/** What runs in the background outlives a conversation, and would send messages in the next one. */
async function stopEverything(conversation: Conversation, waitMs: number): Promise<void> {
  for (const task_id of conversation.tasks())
    await conversation.control({ subtype: 'stop_task', task_id }, waitMs)
  if (!conversation.isIdle()) await conversation.control({ subtype: 'interrupt' }, waitMs)
  await conversation.idle()
}

/** null when it does not know this protocol: it is then ended, and the next prompt reports that. */
async function begin(
  conversation: Conversation,
  { wishes }: HookCallbacks,
  waitMs: number,
): Promise<JsonObject | null> {
  let why = ''
  for (const hooks of wishes) {
    const answer = await conversation.control({ subtype: 'initialize', hooks }, waitMs)
    if (answer.kind === 'success') return answer.response
    if (answer.kind === 'silent') {
      if (conversation.isAlive())
        conversation.stop('not_started', `it did not answer within ${waitMs} ms of its start`)
      return null
    }
    why = answer.why
  }
  conversation.stop('not_started', `it refused to begin a session: ${why}`)
  return null
}

/** Servers may connect late, and are reported as pending until then. */
async function settledServers(
  conversation: Conversation,
  timeoutMs: number,
): Promise<readonly JsonObject[] | null> {
  const until = performance.now() + timeoutMs
  let servers: readonly JsonObject[] | null = null
  for (;;) {
    const left = until - performance.now()
    const answer = await conversation.control({ subtype: 'mcp_status' }, Math.max(0, left))
    if (answer.kind !== 'success') return servers
    servers = asObjects(answer.response.mcpServers)
    if (left <= pollMs || servers.every(({ status }) => status !== 'pending')) return servers
    await sleep(pollMs)
  }
}

async function tooLate(conversation: Conversation, name: string): Promise<AgentOutcome> {
  const { ending, words } = await conversation.ended()
  const isOurs = ending === 'cancelled' || ending === 'over_budget'
  return {
    ending: isOurs ? ending : 'not_started',
    exitCode: null,
    finalText: null,
    costUsd: null,
    tokens: null,
    failure: isOurs ? null : { reason: 'unavailable', message: `agent ${name}: ${words}` },
  }
}

function assistantLine(text: string): JsonObject {
  const message = { role: 'assistant', content: [{ type: 'text', text }] }
  return { type: 'assistant', message, parent_tool_use_id: null }
}
