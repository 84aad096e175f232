import type { Components, PluginLoad } from '../../analyze/contract.ts'
import type { PluginConfig } from '../../config/keys/schema.ts'
import type { GroupedTrial } from '../trial-groups.ts'

export interface DroppedTrial {
  readonly trial: string
  readonly reason: string
}

/**
 * Trials of MCP servers that are not connected cannot be made: nothing is learnt about a plugin from a server that is not
 * there. In the arm without the plugin there is no server in any case.
 */
export function dropUnconnected(
  trials: readonly GroupedTrial[],
  { mcp_servers: servers }: Pick<PluginLoad, 'mcp_servers'>,
  { components, config }: { readonly components: Components; readonly config: PluginConfig },
): { readonly kept: readonly GroupedTrial[]; readonly dropped: readonly DroppedTrial[] } {
  const reasons = new Map<string, string>()
  for (const { name, cli_name } of components.mcp_servers) {
    const server = servers.find((told) => told.name === cli_name)
    const status = server?.status ?? 'not registered'
    const isTried = status === 'needs-auth' && !config.mcp_servers.skip_auth_required
    if (status === 'connected' || isTried) continue
    const why = server?.error === undefined ? '' : ` (${server.error})`
    reasons.set(name, `the MCP server ${cli_name} is ${status}${why}`)
  }
  const reasonOf = ({ trial, scenario }: GroupedTrial): string | undefined =>
    scenario.component_type === 'mcp_server' && trial.arm !== 'without'
      ? reasons.get(scenario.component_ref)
      : undefined
  return {
    kept: trials.filter((grouped) => reasonOf(grouped) === undefined),
    dropped: trials.flatMap((grouped) => {
      const reason = reasonOf(grouped)
      return reason === undefined ? [] : [{ trial: grouped.trial.id, reason }]
    }),
  }
}
