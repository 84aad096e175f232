import { setTimeout as sleep } from 'node:timers/promises'
import {
  asArray,
  asObject,
  asObjects,
  asString,
  asStrings,
  defined,
  type JsonObject,
} from '../../../core/json-fields.ts'
import type { CliStart } from '../../cli/contract.ts'
import type {
  AgentOutcome,
  AgentSession,
  LoadedParts,
  RecalledMessage,
  SessionRequest,
} from '../../contract.ts'
import { unstartedSession } from '../../process/not-started.ts'
import { pluginErrorText } from '../stream.ts'
import { askLive } from './ask.ts'
import { type Conversation, openConversation } from './conversation.ts'
import { createHookCallbacks, type HookCallbacks } from './hook-callbacks.ts'

/** A first start from a cold disk takes seconds; a program that takes longer does not support this protocol. */
const maxBeginMs = 60_000
const pollMs = 50

/**
 * One Claude Code process that answers consecutive prompts, through its control protocol. Time and turns are limited
 * per prompt, cost for the whole session. A step that cannot be undone ends it on failure, such as a failed clear or a
 * rejected message; the next prompt reports that.
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
  const conversation = openConversation(start, request, hooks)
  const begun = await begin(conversation, hooks, Math.min(timeoutMs, maxBeginMs))
  let lastMessageId: string | null = null
  let isCompleted = false

  /** A step that belongs to no prompt; any failure in it ends the session. */
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
      const result = await conversation.send({ content: '/clear', isQuiet: true })
      lastMessageId = null
      return (
        result !== null && result.is_error !== true && asString(conversation.about()?.session_id) !== before
      )
    })

  const recall = (messages: readonly RecalledMessage[]): Promise<void> =>
    within('take what was said before', async () => {
      await conversation.idle()
      for (const { role, content } of messages) {
        if (role === 'assistant') conversation.writeLine(assistantLine(content))
        else if ((await conversation.send({ content, shouldQuery: false, isQuiet: true })) === null)
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

/** Background work outlives a conversation, and would send messages in the next one. */
async function stopEverything(conversation: Conversation, waitMs: number): Promise<void> {
  for (const task_id of conversation.tasks())
    await conversation.control({ subtype: 'stop_task', task_id }, waitMs)
  if (!conversation.isIdle()) await conversation.control({ subtype: 'interrupt' }, waitMs)
  await conversation.idle()
}

/** null when it does not support this protocol: then it is ended, and the next prompt reports that. */
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

/**
 * What Claude Code reports about itself: at the session start, in its `init` line, and about its MCP servers, if it was
 * asked and answered.
 */
export function loadedParts(
  begun: JsonObject,
  init: JsonObject | null,
  servers: readonly JsonObject[] | null,
): LoadedParts {
  const tools = asStrings(init?.tools) ?? []
  const reported = (servers ?? asObjects(init?.mcp_servers)).map((server) => serverOf(server, tools))
  // A server may have connected after the `init` line.
  const later = reported.flatMap(({ name, tools: own = [] }) => own.map((tool) => `${prefixOf(name)}${tool}`))
  return {
    version: asString(init?.claude_code_version) ?? asString(begun.claude_code_version) ?? null,
    ...defined({ model: asString(init?.model) }),
    session_id: asString(init?.session_id) ?? null,
    tools: [...new Set([...tools, ...later])],
    skills: asStrings(init?.skills) ?? [],
    agents: asStrings(init?.agents) ?? namesIn(begun.agents),
    commands: asStrings(init?.slash_commands) ?? namesIn(begun.commands),
    plugins: asObjects(init?.plugins).map(({ name, path }) => ({
      name: asString(name) ?? '',
      path: asString(path) ?? '',
    })),
    plugin_errors: asArray(init?.plugin_errors).map(pluginErrorText),
    mcp_servers: reported,
  }
}

function serverOf(server: JsonObject, tools: readonly string[]): LoadedParts['mcp_servers'][number] {
  const name = asString(server.name) ?? ''
  const prefix = prefixOf(name)
  const seen = tools.filter((tool) => tool.startsWith(prefix)).map((tool) => tool.slice(prefix.length))
  return defined({
    name,
    status: asString(server.status) ?? 'unknown',
    tools: server.tools === undefined ? (seen.length > 0 ? seen : undefined) : namesIn(server.tools),
    error: asString(server.error),
  })
}

/** The model knows a server's tools by the server's name, reduced to characters that the API allows. */
function prefixOf(server: string): string {
  return `mcp__${server.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__`
}

function namesIn(list: unknown): readonly string[] {
  return asArray(list).flatMap((item) => asString(item) ?? asString(asObject(item)?.name) ?? [])
}
