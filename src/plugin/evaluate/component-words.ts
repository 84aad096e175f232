import type { ComponentType } from '../contract.ts'

const typeWords = {
  skill: 'skill',
  agent: 'agent',
  command: 'command',
  hook: 'hook',
  mcp_server: 'MCP server',
} as const satisfies Readonly<Record<ComponentType, string>>

/** `skill greet`, as people call a component. */
export function componentWords(type: ComponentType, name: string): string {
  return `${typeWords[type]} ${name}`
}
