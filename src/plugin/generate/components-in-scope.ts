import type { PluginConfig } from '../../config/plugin-schema.ts'
import { type AnyComponent, componentList } from '../component-list.ts'
import type { Components } from '../contract.ts'

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
