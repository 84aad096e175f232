import { systemClock } from '../../io/clock.ts'
import type { Components, PluginLoad } from '../analyze/contract.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { unasked } from './attempt.ts'
import type { Execution } from './contract.ts'
import { checkPluginLoad } from './load/check-plugin-load.ts'
import type { GroupedTrial } from './plan-trials.ts'
import { keepTrial } from './plugin-trials.ts'
import type { ExecuteRequest, ExecutionReport } from './request.ts'

export interface RunnableTrials {
  /** null when no arm has the plugin. */
  readonly load: PluginLoad | null
  readonly runnable: readonly GroupedTrial[]
  readonly dropped: ExecutionReport['dropped']
}

/**
 * The trials that can be made, once Claude Code was asked what it loads. Trials of a plugin that does not load are kept as
 * invalid, and those of a server that is not connected are left out: no process is started for them.
 */
export async function runnableTrials(
  request: ExecuteRequest,
  open: readonly GroupedTrial[],
  onKept: (execution: Execution) => void,
): Promise<RunnableTrials> {
  const load = await loadOf(request, open)
  if (load === null) return { load, runnable: open, dropped: [] }
  if (load.loaded) return { load, ...withoutUnconnected(request, open, load) }
  const hint = load.recovery_hint === undefined ? '' : ` ${load.recovery_hint}`
  const invalid = `the plugin did not load: ${load.error ?? 'Claude Code does not say why'}.${hint}`
  request.onStep({ kind: 'error', message: invalid })
  // A program that never answered says nothing about the plugin.
  const why =
    load.error_type === 'timeout'
      ? { failure: { reason: 'timeout' as const, message: invalid } }
      : { failure: null, invalid }
  for (const grouped of open.filter(({ trial }) => trial.arm !== 'without')) {
    const attempt = unasked(why, systemClock.now().getTime())
    onKept(await keepTrial(grouped, attempt, { count: 0, costUsd: 0 }, request))
  }
  return { load, runnable: open.filter(({ trial }) => trial.arm === 'without'), dropped: [] }
}

/** Claude Code is asked once what it loads of the plugin, before anything is paid for. */
async function loadOf(request: ExecuteRequest, open: readonly GroupedTrial[]): Promise<PluginLoad | null> {
  if (request.load !== undefined) return request.load
  if (request.signal.aborted || open.every(({ trial }) => trial.arm === 'without')) return null
  const load = await checkPluginLoad(request)
  for (const message of load.warnings) request.onStep({ kind: 'note', level: 'warning', message })
  return load
}

/**
 * A server that is not connected shows nothing about the plugin. In the arm without the plugin there is no server in any
 * case.
 */
function withoutUnconnected(
  { plugin, config, onStep }: ExecuteRequest,
  open: readonly GroupedTrial[],
  load: PluginLoad,
): Pick<RunnableTrials, 'runnable' | 'dropped'> {
  const reasons = unconnectedServers(plugin.components, load, config)
  const reasonOf = ({ trial, scenario }: GroupedTrial): string | undefined =>
    scenario.component_type === 'mcp_server' && trial.arm !== 'without'
      ? reasons.get(scenario.component_ref)
      : undefined
  const dropped = open.flatMap((grouped) => {
    const reason = reasonOf(grouped)
    return reason === undefined ? [] : [{ trial: grouped.trial.id, reason }]
  })
  for (const [reason, trials] of Map.groupBy(dropped, (trial) => trial.reason)) {
    const message = `${reason}; ${trials.length} of its trials ${trials.length === 1 ? 'is' : 'are'} left out`
    onStep({ kind: 'note', level: 'warning', message })
  }
  return { runnable: open.filter((grouped) => reasonOf(grouped) === undefined), dropped }
}

/** By the name of the server, why it cannot be tried. */
function unconnectedServers(
  components: Components,
  { mcp_servers: servers }: PluginLoad,
  config: PluginConfig,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const { name, cli_name } of components.mcp_servers) {
    const server = servers.find((reported) => reported.name === cli_name)
    const status = server?.status ?? 'not registered'
    const isTried = status === 'needs-auth' && !config.mcp_servers.skip_auth_required
    if (status === 'connected' || isTried) continue
    const why = server?.error === undefined ? '' : ` (${server.error})`
    reasons.set(name, `the MCP server ${cli_name} is ${status}${why}`)
  }
  return reasons
}
