import type { Components } from '../analyze/contract.ts'
import { type AnyComponent, componentList } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'

/** The components the configuration wants scenarios for, in the order of the analysis. */
export function componentsInScope(
  components: Components,
  scope: PluginConfig['scope'],
): readonly AnyComponent[] {
  const wanted = {
    skill: scope.skills,
    agent: scope.agents,
    command: scope.commands,
    hook: scope.hooks,
    mcp_server: scope.mcp_servers,
  }
  return componentList(components).filter(({ type }) => wanted[type])
}
