import type { Components } from './analyze/contract.ts'
import type { ComponentType } from './contract.ts'

/** Any component, with its type. */
export type AnyComponent = {
  [Type in ComponentType]: { readonly type: Type; readonly component: Components[`${Type}s`][number] }
}[ComponentType]

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

export function componentsById(components: Components): ReadonlyMap<string, AnyComponent> {
  return new Map(componentList(components).map((one) => [componentId(one.type, one.component.name), one]))
}

/** `type:name`, unique within a plugin. */
export function componentId(type: ComponentType, name: string): string {
  return `${type}:${name}`
}

/** `skill greet`, as people call a component. */
export function componentLabel(type: ComponentType, name: string): string {
  return `${type === 'mcp_server' ? 'MCP server' : type} ${name}`
}
