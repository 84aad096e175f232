import type { TokenUsage } from '../../../core/trial.ts'
import type { Block, ModelCall } from '../contract.ts'
import type { ScriptTurn } from './schema.ts'

const bytesPerToken = 4

/** What the script says, and where it says nothing an estimate by length: the same for the same request. */
export function usageOf(usage: ScriptTurn['usage'], blocks: readonly Block[], call: ModelCall): TokenUsage {
  const output = usage?.output_tokens ?? sum(blocks.map(blockTokens))
  const thoughts = blocks.filter(({ kind }) => kind === 'thinking')
  const thinking =
    usage?.thinking_tokens ??
    (thoughts.length > 0 ? Math.min(output, sum(thoughts.map(blockTokens))) : undefined)
  return {
    input: usage?.input_tokens ?? inputTokens(call),
    output,
    cacheRead: usage?.cache_read_tokens ?? 0,
    cacheWrite: usage?.cache_write_tokens ?? 0,
    ...(thinking !== undefined && { thinking }),
  }
}

export function inputTokens({ system, messages }: ModelCall): number {
  const parts = messages.flatMap(({ text, toolCalls, toolResults }) => [
    text,
    ...toolCalls.map(({ name, input }) => name + jsonOf(input)),
    ...toolResults.map((result) => result.text),
  ])
  return tokensOf([system, ...parts].join('\n'))
}

function blockTokens(block: Block): number {
  return tokensOf(block.kind === 'tool_call' ? block.name + jsonOf(block.input) : block.text)
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
