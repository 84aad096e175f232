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
import { openTalk, type Talk } from './conversation.ts'
import { createHookCallbacks, type HookCallbacks } from './hook-callbacks.ts'
import { loadedParts } from './loaded-parts.ts'

/** A first start from a cold disk takes seconds; one that takes longer than this speaks another language. */
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
  const talk = openTalk(start, request, hooks)
  const begun = await begin(talk, hooks, Math.min(timeoutMs, maxBeginMs))
  let lastMessageId: string | null = null
  let isCompleted = false

  /** A step that belongs to no prompt of its own; whatever goes wrong in it is the end of the session. */
  const within = async (what: string, step: () => Promise<boolean>): Promise<void> => {
    if (talk.isAsked()) throw new Error('a session answers one prompt at a time')
    if (!talk.isAlive()) return
    const timer = setTimeout(
      () => talk.stop('timed_out', `it did not ${what} within ${timeoutMs} ms`),
      Math.min(timeoutMs, 2 ** 31 - 1),
    )
    const isDone = await step().finally(() => clearTimeout(timer))
    if (!isDone && talk.isAlive()) talk.stop('crashed', `it did not ${what}`)
  }

  const clear = (): Promise<void> =>
    within('forget the conversation', async () => {
      await stopEverything(talk, timeoutMs)
      const before = asString(talk.about()?.session_id)
      const result = await talk.tell({ content: '/clear', isQuiet: true })
      lastMessageId = null
      return result !== null && result.is_error !== true && asString(talk.about()?.session_id) !== before
    })

  const recall = (messages: readonly RecalledMessage[]): Promise<void> =>
    within('take what was said before', async () => {
      await talk.idle()
      for (const { role, content } of messages) {
        if (role === 'assistant') talk.say(assistantLine(content))
        else if ((await talk.tell({ content, shouldQuery: false, isQuiet: true })) === null) return false
      }
      return true
    })

  const loaded = async (): Promise<LoadedParts | null> => {
    if (begun === null) return null
    const servers = await settledServers(talk, timeoutMs)
    if (talk.about() === null) await clear()
    return loadedParts(begun, talk.about(), servers)
  }

  return {
    async ask(prompt, options = {}): Promise<AgentOutcome> {
      if (!talk.isAlive()) return tooLate(talk, start.name)
      const { outcome, messageId } = await askLive(talk, start, request, prompt, options)
      lastMessageId = messageId
      return outcome
    },
    clear,
    recall,
    async rewind() {
      if (lastMessageId === null)
        return { kind: 'refused', why: 'no prompt was asked since the conversation began' }
      const answer = await talk.control(
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
    isAlive: talk.isAlive,
    async close() {
      if (isCompleted) return
      isCompleted = true
      try {
        await talk.finish()
      } finally {
        const { ending, exitCode } = await talk.ended()
        const duration_secs = (performance.now() - startedAt) / 1_000
        request.emit({ event: 'complete', exit_code: exitCode, duration_secs, ending })
      }
    },
  }
}

/** What runs in the background outlives a conversation, and would speak up in the next one. */
async function stopEverything(talk: Talk, waitMs: number): Promise<void> {
  for (const task_id of talk.tasks()) await talk.control({ subtype: 'stop_task', task_id }, waitMs)
  if (!talk.isIdle()) await talk.control({ subtype: 'interrupt' }, waitMs)
  await talk.idle()
}

/** null when it does not speak as we do: it is then ended, and says so when it is asked something. */
async function begin(talk: Talk, { wishes }: HookCallbacks, waitMs: number): Promise<JsonObject | null> {
  let why = ''
  for (const hooks of wishes) {
    const answer = await talk.control({ subtype: 'initialize', hooks }, waitMs)
    if (answer.kind === 'success') return answer.response
    if (answer.kind === 'silent') {
      if (talk.isAlive()) talk.stop('not_started', `it did not answer within ${waitMs} ms of its start`)
      return null
    }
    why = answer.why
  }
  talk.stop('not_started', `it refused to begin a session: ${why}`)
  return null
}

/** Servers may take their time to connect, and are told as pending until they did. */
async function settledServers(talk: Talk, timeoutMs: number): Promise<readonly JsonObject[] | null> {
  const until = performance.now() + timeoutMs
  let servers: readonly JsonObject[] | null = null
  for (;;) {
    const left = until - performance.now()
    const answer = await talk.control({ subtype: 'mcp_status' }, Math.max(0, left))
    if (answer.kind !== 'success') return servers
    servers = asObjects(answer.response.mcpServers)
    if (left <= pollMs || servers.every(({ status }) => status !== 'pending')) return servers
    await sleep(pollMs)
  }
}

async function tooLate(talk: Talk, name: string): Promise<AgentOutcome> {
  const { ending, words } = await talk.ended()
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
