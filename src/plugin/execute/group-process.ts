import type { AgentOutcome, FailureReport } from '../../agents/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { type LiveClaude, openLiveClaude } from './live-claude.ts'
import { whyUnstarted } from './load/check-plugin-load.ts'
import { proveLoad } from './load/plugin-load.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { ExecuteRequest } from './request.ts'

/** The process of a group, opened when it is needed and again when it has died. */
export interface GroupProcess {
  /** A process that has proven what it loaded, or why a scenario cannot be asked. */
  ready(scenario: PluginScenario, options: { readonly maxCostUsd: number | undefined }): Promise<Ready>
  /** Ends one that cannot be asked any more. */
  tidy(): Promise<void>
  close(): Promise<void>
}

export type Ready =
  | { readonly kind: 'live'; readonly live: LiveClaude }
  | ({
      readonly kind: 'broken'
      /** It was tried often enough. */
      readonly isHopeless: boolean
    } & Pick<AgentOutcome, 'failure' | 'invalid'>)

export function openGroupProcess(
  settings: ProcessSettings,
  { request, onProcess }: { readonly request: ExecuteRequest; onProcess(): void },
): GroupProcess {
  let live: LiveClaude | null = null
  let problem: string | null = null
  let failedStarts = 0
  let lastFailure: FailureReport | null = null
  const { max_retries } = request.config.tuning.retry

  /** A program that cannot be started for the first trial of a group cannot be for the others either. */
  const notStarted = async (failure: FailureReport): Promise<Ready> => {
    await close()
    failedStarts += 1
    lastFailure = failure
    return { kind: 'broken', failure, isHopeless: failedStarts > max_retries }
  }
  const close = async (): Promise<void> => {
    const open = live
    live = null
    await open?.close()
  }
  return {
    async ready(scenario, { maxCostUsd }) {
      if (lastFailure !== null && failedStarts > max_retries)
        return { kind: 'broken', failure: lastFailure, isHopeless: true }
      if (live === null) {
        onProcess()
        live = await openLiveClaude(request, settings, { ...(maxCostUsd !== undefined && { maxCostUsd }) })
        problem = live.loaded === null ? null : proveLoad(settings, request.plugin.plugin_path, live.loaded)
      }
      if (live.loaded === null) return notStarted(await whyUnstarted(live, request))
      if (problem !== null) return { kind: 'broken', failure: null, invalid: problem, isHopeless: true }
      const server = unconnected(scenario, request.plugin, live)
      if (server !== null) return notStarted({ reason: 'unavailable', message: server })
      failedStarts = 0
      return { kind: 'live', live }
    },
    async tidy() {
      if (live?.isUsable() === false) await close()
    },
    close,
  }
}

/** A server that was connected when it was looked at may fail in a later process: that is no fault of the plugin. */
function unconnected(
  { component_type, component_ref }: PluginScenario,
  { components }: ExecuteRequest['plugin'],
  { loaded }: LiveClaude,
): string | null {
  if (component_type !== 'mcp_server') return null
  const own = components.mcp_servers.find(({ name }) => name === component_ref)
  const server = loaded?.mcp_servers.find(({ name }) => name === own?.cli_name)
  if (server === undefined || server.status === 'connected' || server.status === 'needs-auth') return null
  return `the MCP server ${server.name} is ${server.status}${server.error === undefined ? '' : `: ${server.error}`}`
}
