import type {
  AgentComponent,
  CommandComponent,
  Components,
  HookComponent,
  McpServerComponent,
  SkillComponent,
} from './analyze/contract.ts'
import type { ComponentType } from './contract.ts'

/** Any component, with its type. */
export type AnyComponent =
  | { readonly type: 'skill'; readonly component: SkillComponent }
  | { readonly type: 'agent'; readonly component: AgentComponent }
  | { readonly type: 'command'; readonly component: CommandComponent }
  | { readonly type: 'hook'; readonly component: HookComponent }
  | { readonly type: 'mcp_server'; readonly component: McpServerComponent }

/** All components of a plugin in one list, type by type. */
export function componentList(components: Components): readonly AnyComponent[] {
  return [
    ...components.skills.map((component) => ({ type: 'skill' as const, component })),
    ...components.agents.map((component) => ({ type: 'agent' as const, component })),
    ...components.commands.map((component) => ({ type: 'command' as const, component })),
    ...components.hooks.map((component) => ({ type: 'hook' as const, component })),
    ...components.mcp_servers.map((component) => ({ type: 'mcp_server' as const, component })),
  ]
}

/** `type:name`, unique within a plugin. */
export function componentId(type: ComponentType, name: string): string {
  return `${type}:${name}`
}

const typeWords = {
  skill: 'skill',
  agent: 'agent',
  command: 'command',
  hook: 'hook',
  mcp_server: 'MCP server',
} as const satisfies Readonly<Record<ComponentType, string>>

/** `skill greet`, as people call a component. */
export function componentLabel(type: ComponentType, name: string): string {
  return `${typeWords[type]} ${name}`
}
