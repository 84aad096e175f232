import { componentId } from '../component-list.ts'
import type { McpServerComponent } from './contract.ts'
import type { Notes } from './notes.ts'
import type { PluginContent } from './read-plugin.ts'

/** A name in one of the CLI's name spaces: one for skills and commands, one for agents, one for servers. */
export interface Named {
  readonly id: string
  readonly space: 'invoked' | 'agent' | 'server'
  readonly name: string
  /** The name in its frontmatter, under which it can be reached, too. */
  readonly isAlias: boolean
  readonly path: string
  readonly line?: number
}

/** Says which components have the same name. In the order in which Claude Code loads them: the first is the one that can be reached. */
export function noteCollisions(named: readonly Named[], notes: Notes): void {
  const groups = Map.groupBy(named, ({ space, name }) => `${space}\0${name.toLowerCase()}`)
  for (const group of groups.values()) {
    const [first, ...others] = group
    if (first === undefined) continue
    for (const other of others) {
      if (other.id === first.id) continue
      const isHidden = other.name === first.name && !other.isAlias && !first.isAlias
      notes.add('NAME_COLLISION', {
        message: isHidden
          ? `${other.id} (${other.path}) and ${first.id} (${first.path}) are both ${first.name}; Claude Code reaches only the latter`
          : other.name === first.name
            ? `${other.id} calls itself ${other.name} in its frontmatter, and so is ${first.id} called`
            : `${other.name} and ${first.name} differ only in upper and lower case`,
        suggestion: 'Rename one of them.',
        severity: isHidden ? 'error' : 'warning',
        components: [first.id, other.id],
        path: other.path,
        ...(other.line !== undefined && { line: other.line }),
      })
    }
  }
}

interface Placed {
  readonly name: string
  readonly path: string
  readonly line?: number
}

/** Every name a component of the plugin goes by, in the order in which Claude Code loads them; second names come last. */
export function namedComponents(
  { commands, skills, agents }: PluginContent,
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
