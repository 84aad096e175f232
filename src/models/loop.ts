import { z } from 'zod'
import { addCost } from '../core/add-cost.ts'
import { addTokens, noTokens, type TokenUsage } from '../core/trial.ts'
import { ask, type ModelParts, type PaidTurn, type Question } from './ask.ts'
import type { LoopAnswer, LoopRequest, LoopStep, Model, Tool, ToolResult } from './contract.ts'
import { uninterrupted } from './model-error.ts'
import type { ChatMessage, ToolOffer, ToolReply, ToolRequest } from './provider.ts'
import { type AskText, structured, toJsonSchema, withCostOf } from './structured.ts'

const defaultMaxTurns = 50
/** A turn may write a whole file. */
const defaultMaxOutputTokens = 8_192

/**
 * Calls the model, runs the requested tools, sends the results, and repeats until no tool is requested. Tools of one answer run
 * concurrently; their results are reported in the order of the calls. An interruption aborts the running tools and waits for them.
 */
async function loop(
  ask: (question: Question) => Promise<PaidTurn>,
  model: string,
  request: LoopRequest,
): Promise<LoopAnswer> {
  const signal = request.signal ?? new AbortController().signal
  return uninterrupted(model, signal, () => takeTurns(ask, model, request, signal))
}

async function takeTurns(
  ask: (question: Question) => Promise<PaidTurn>,
  model: string,
  request: LoopRequest,
  signal: AbortSignal,
): Promise<LoopAnswer> {
  const { tools, maxTurns = defaultMaxTurns, onStep = () => {}, beforeStop, prompt, ...settings } = request
  const offers = await Promise.all(tools.map(offerOf))
  const messages: ChatMessage[] = [{ role: 'user', text: prompt }]
  let usage: { readonly tokens: TokenUsage; readonly costUsd: number | null } = {
    tokens: noTokens,
    costUsd: 0,
  }
  for (let turns = 1; ; turns += 1) {
    const question = {
      maxOutputTokens: defaultMaxOutputTokens,
      ...settings,
      messages: [...messages],
      tools: offers,
    }
    const { turn, tokens, costUsd } = await withCostOf(usage, () => ask(question))
    usage = { tokens: addTokens(usage.tokens, tokens), costUsd: addCost(usage.costUsd, costUsd) }
    if (turn.thinking !== '') onStep({ kind: 'thinking', text: turn.thinking })
    if (turn.text !== '') onStep({ kind: 'text', text: turn.text })
    onStep({ kind: 'usage', model, tokens, costUsd })
    const next: ChatMessage | null =
      turn.toolCalls.length > 0
        ? { role: 'tool', results: await useTools(tools, turn.toolCalls, onStep, signal) }
        : userSays((await beforeStop?.(turn.text)) ?? null)
    signal.throwIfAborted()
    if (next === null || turns >= maxTurns)
      return { value: turn.text, ...usage, turns, ending: next === null ? 'done' : 'max_turns' }
    messages.push({ role: 'assistant', answer: turn }, next)
  }
}

async function useTools(
  tools: readonly Tool[],
  calls: readonly ToolRequest[],
  onStep: (step: LoopStep) => void,
  signal: AbortSignal,
): Promise<ToolReply[]> {
  for (const call of calls) onStep({ kind: 'tool_call', ...call })
  const started = calls.map(async (call) => {
    const startedMs = performance.now()
    const answer = await runTool(tools, call, signal)
    return { call, answer, durationMs: Math.round(performance.now() - startedMs) }
  })
  const replies: ToolReply[] = []
  for (const ended of started) {
    const { call, answer, durationMs } = await ended
    onStep({ kind: 'tool_result', id: call.id, name: call.name, durationMs, ...answer })
    replies.push({ id: call.id, name: call.name, output: answer.output, isError: answer.isError ?? false })
  }
  return replies
}

async function offerOf({ name, description, input }: Tool): Promise<ToolOffer> {
  return { name, description, inputSchema: await toJsonSchema(input) }
}

function userSays(text: string | null): ChatMessage | null {
  return text === null ? null : { role: 'user', text }
}

/**
 * Runs one tool call. Every problem becomes a result that the model can react to: an unknown tool, an invalid input, a
 * tool that throws. Never rejects.
 */
async function runTool(
  tools: readonly Tool[],
  { id, name, input }: ToolRequest,
  signal: AbortSignal,
): Promise<ToolResult> {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined)
    return failed(
      `There is no tool ${JSON.stringify(name)}. There are: ${tools.map((one) => one.name).join(', ')}.`,
    )
  try {
    const checked = await tool.input.safeParseAsync(input)
    if (!checked.success) return failed(`The input does not fit:\n${z.prettifyError(checked.error)}`)
    return await tool.run(checked.data, { id, signal })
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

function failed(output: string): ToolResult {
  return { output, isError: true }
}

/** Adds budget, time limit, retries, schema and tools to a provider's single call. */
export function createModel(parts: ModelParts): Model {
  const text: AskText = async ({ prompt, ...request }) => {
    const { turn, ...usage } = await ask(parts, { ...request, messages: [{ role: 'user', text: prompt }] })
    return { value: turn.text, ...usage }
  }
  return {
    name: parts.name,
    text,
    structured: (request) => structured(text, request),
    loop: (request) => loop((question) => ask(parts, question), parts.name, request),
  }
}
