import type { Arm } from '../../contract.ts'
import type { FoundComponent } from './found-component.ts'
import type { KnownComponents } from './known-components.ts'
import { mcpServerOf } from './mcp-server-of.ts'
import { resolveName } from './resolve-name.ts'

export interface ToolUse {
  readonly name: string
  readonly input: unknown
}

/** The component a call of a tool starts, null when it starts none. The input is whatever a model wrote. */
export function toolComponent(
  { name, input }: ToolUse,
  known: KnownComponents,
  arm: Arm,
): FoundComponent | null {
  switch (name) {
    case 'Skill': {
      const skill = textField(input, 'skill') ?? textField(input, 'command')
      return skill === null ? null : resolveName(skill, { list: 'invocable', prefer: 'skill' }, known, arm)
    }
    case 'SlashCommand': {
      const typed = textField(input, 'command')
      return typed === null ? null : commandComponent(typed, known, arm)
    }
    case 'Task':
    case 'Agent': {
      const type = textField(input, 'subagent_type')
      return type === null ? null : resolveName(type, { list: 'agent', prefer: 'agent' }, known, arm)
    }
    default:
      return mcpServerOf(name, known)
  }
}

/** What is meant by `/name arguments`, with or without its slash and arguments. A prompt of an MCP server is its server's. */
export function commandComponent(typed: string, known: KnownComponents, arm: Arm): FoundComponent | null {
  const [word = ''] = typed.trim().split(/\s/, 1)
  const name = word.replace(/^\//, '')
  return mcpServerOf(name, known) ?? resolveName(name, { list: 'invocable', prefer: 'command' }, known, arm)
}

function textField(input: unknown, key: string): string | null {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, key)) return null
  const value: unknown = Reflect.get(input, key)
  return typeof value === 'string' ? value : null
}
