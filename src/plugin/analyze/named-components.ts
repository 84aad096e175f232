import { componentId } from '../component-list.ts'
import type { McpServerComponent } from './contract.ts'
import type { Named } from './note-collisions.ts'
import type { PluginParts } from './read-plugin.ts'

interface Placed {
  readonly name: string
  readonly path: string
  readonly line?: number
}

/** Every name a component of the plugin goes by, in the order in which Claude Code loads them; second names come last. */
export function namedComponents(
  { commands, skills, agents }: PluginParts,
  servers: readonly McpServerComponent[],
): readonly Named[] {
  const invoked = [
    ...commands.map((found) => ({ type: 'command' as const, ...found })),
    ...skills.map((found) => ({ type: 'skill' as const, ...found })),
  ]
  return [
    ...invoked.map(({ type, component }) => named(type, 'invoked', component, component.cli_name)),
    ...agents.map((agent) => named('agent', 'agent', agent, agent.cli_name)),
    ...servers.map((server) => named('mcp_server', 'server', server, server.tool_prefix)),
    ...invoked.flatMap(({ type, component, alias }) =>
      alias === null ? [] : [{ ...named(type, 'invoked', component, alias), isAlias: true }],
    ),
  ]
}

function named(
  type: Parameters<typeof componentId>[0],
  space: Named['space'],
  { name, path, line }: Placed,
  called: string,
): Named {
  const place = { path, ...(line !== undefined && { line }) }
  return { id: componentId(type, name), space, name: called, isAlias: false, ...place }
}
