import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { agentFailures } from '../../core/event.ts'
import { optionalCount, optionalText } from '../../core/schema.ts'
import { shorten } from '../../core/shorten.ts'
import { noTokens, type TokenUsage } from '../../core/trial.ts'
import { readYaml } from '../../io/yaml.ts'
import { freePrice } from '../price-table.ts'
import type { Completion, CompletionRequest, Provider } from '../provider.ts'

/**
 * `scripted:PATH`, a model that answers from a file: for tests, demonstrations and dry runs. Its price is zero unless
 * the user sets one. Without `match`, answers are given in the order of the calls; a match searches the system text and
 * the last message.
 */
export const scripted: Provider = async (model, { base }) => {
  const path = resolve(base, model)
  const pick = createPicker(readYaml(path, modelScriptSchema).value.answers)
  let calls = 0
  const nextId = (): string => {
    calls += 1
    return `call_${calls}`
  }
  return {
    price: freePrice,
    complete: async (request) => {
      const answer = pick(`${request.system ?? ''}\n${lastWords(request)}`)
      if (answer === null) return exhausted(path, request)
      if (answer.delay_ms > 0) await wait(answer.delay_ms, undefined, { signal: request.signal })
      return completionOf(answer, nextId)
    },
  }
}

function createPicker(answers: readonly ScriptedAnswer[]): (prompt: string) => ScriptedAnswer | null {
  const slots = answers.map((answer) => ({
    answer,
    left: answer.times ?? (answer.match === undefined ? 1 : Infinity),
  }))
  return (prompt) => {
    const slot = slots.find(({ left, answer }) => left > 0 && prompt.includes(answer.match ?? ''))
    if (slot === undefined) return null
    slot.left -= 1
    return slot.answer
  }
}

function completionOf(answer: ScriptedAnswer, nextId: () => string): Completion {
  if (answer.error === undefined)
    return {
      kind: 'answer',
      text: answer.text ?? (answer.json === undefined ? '' : JSON.stringify(answer.json)),
      thinking: answer.thinking ?? '',
      toolCalls: (answer.calls ?? []).map(({ name, input }) => ({ id: nextId(), name, input })),
      tokens: tokensOf(answer),
    }
  return {
    kind: 'failure',
    reason: answer.error,
    message: answer.message ?? `scripted failure: ${answer.error}`,
    ...(answer.retry_after_ms === undefined ? {} : { retryAfterMs: answer.retry_after_ms }),
  }
}

function tokensOf({ usage }: ScriptedAnswer): TokenUsage {
  if (usage === undefined) return noTokens
  return {
    input: usage.input_tokens,
    output: usage.output_tokens,
    cacheRead: usage.cache_read_tokens,
    cacheWrite: usage.cache_write_tokens,
    ...(usage.thinking_tokens !== undefined && { thinking: usage.thinking_tokens }),
  }
}

function exhausted(path: string, request: CompletionRequest): Completion {
  const words = lastWords(request)
  const start = JSON.stringify(shorten(words, 80))
  return { kind: 'failure', reason: 'unavailable', message: `${path} has no answer left for ${start}` }
}

/** The input of the model: the user's last message, or the results of tools. */
function lastWords({ messages }: CompletionRequest): string {
  const last = messages.at(-1)
  if (last?.role === 'user') return last.text
  return last?.role === 'tool' ? last.results.map(({ output }) => output).join('\n') : ''
}

const tokens = z.int().min(0).default(0)

const answerSchema = z
  .strictObject({
    match: optionalText(
      'Only for a prompt that contains this text. Makes the script independent of the order of calls.',
    ),
    times: optionalCount('How often it is given. Default: once, or without limit when there is a match.'),
    text: z.string().optional().describe('The exact answer.'),
    json: z.json().optional().describe('The answer, as JSON.'),
    thinking: z.string().optional().describe('The thinking before the answer.'),
    calls: z
      .array(
        z.strictObject({
          name: z.string().min(1).describe('The tool.'),
          input: z.json().default({}).describe('The input of the tool.'),
        }),
      )
      .min(1)
      .optional()
      .describe('Tool calls, made in parallel. May be combined with text.'),
    error: z.enum(agentFailures).optional().describe('The call fails in this way.'),
    message: z.string().optional().describe('Message of the error.'),
    retry_after_ms: z
      .int()
      .min(0)
      .optional()
      .describe('The wait that a rate_limit or overloaded error requests.'),
    delay_ms: z.int().min(0).default(0).describe('Time before the answer.'),
    usage: z
      .strictObject({
        input_tokens: tokens,
        output_tokens: tokens,
        cache_read_tokens: tokens,
        cache_write_tokens: tokens,
        thinking_tokens: z.int().min(0).optional().describe('The part of output_tokens that is thinking.'),
      })
      .optional()
      .describe('Tokens the answer reports.'),
  })
  .refine(
    ({ text, json, error, calls }) => {
      const kinds = [text, json, error].filter((kind) => kind !== undefined).length
      return calls === undefined ? kinds === 1 : json === undefined && error === undefined
    },
    { error: 'an answer has exactly one of text, json and error, or calls with or without text' },
  )

/** The answers of a scripted model. The first one that is still available and whose match fits is given. */
export const modelScriptSchema = z.strictObject({
  answers: z.array(z.union([z.string().transform((text) => ({ text, delay_ms: 0 })), answerSchema])).min(1),
})

type ScriptedAnswer = Partial<z.output<typeof answerSchema>> & { readonly delay_ms: number }
