import { resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { shorten } from '../../core/shorten.ts'
import { noTokens, type TokenUsage } from '../../core/trial.ts'
import { readYaml } from '../../io/yaml.ts'
import { freePrice } from '../pricing.ts'
import type { Completion, CompletionRequest, Provider } from '../provider.ts'
import { modelScriptSchema, type ScriptedAnswer } from './schema.ts'

/**
 * `scripted:PATH`, a model that answers from a file: for tests, demonstrations and dry runs. It is free, which is known,
 * unless the user prices it. Without `match` answers are given in the order of the calls; a match looks at the system text
 * and at the last message.
 */
export const scripted: Provider = {
  name: 'scripted',
  open: async (model, { base }) => {
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
  },
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

/** What the model is answering: the user's last message, or the results of the tools it has used. */
function lastWords({ messages }: CompletionRequest): string {
  const last = messages.at(-1)
  if (last?.role === 'user') return last.text
  return last?.role === 'tool' ? last.results.map(({ output }) => output).join('\n') : ''
}
