import type { ToolCall } from '../../core/hook-event.ts'
import { asObject, type JsonObject, parseObject } from '../../core/json-fields.ts'
import { type ToolWord, toolAction } from './tool-action.ts'

export interface RawCall {
  readonly id: string | null
  readonly tool: string | null
  readonly input: unknown
  /** The MCP server, where the agent tells it apart from the tool's name. */
  readonly server?: string | null
}

/** A call in the words of all agents. A tool that is not in the list is `unknown`. */
export function toolCall(
  words: ReadonlyMap<string, ToolWord>,
  { id, tool, input, server }: RawCall,
): ToolCall {
  const name = tool ?? 'unknown'
  const fields = inputFields(input)
  return {
    id,
    tool: name,
    action: toolAction(words.get(name), fields, server ?? serverIn(name)),
    input: input ?? null,
  }
}

/** Some agents hand the input over as JSON in a string. */
function inputFields(input: unknown): JsonObject {
  return asObject(input) ?? (typeof input === 'string' ? parseObject(input) : null) ?? {}
}

/** `mcp__server__tool`; other spellings cannot be taken apart for certain. */
function serverIn(tool: string): string | null {
  return /^mcp__(.+?)__/.exec(tool)?.[1] ?? null
}
