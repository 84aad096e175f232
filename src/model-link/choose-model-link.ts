import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { GantryError } from '../core/error.ts'
import {
  isOffline,
  type ModelLink,
  type ModelSource,
  type ReplayMode,
} from '../models/boundary/model-link.ts'
import { hasKey, upstreamFrom } from '../models/boundary/upstream.ts'

/** The link between an agent and its model in this run. Null when the agent calls its provider directly. */
export function chooseModelLink(
  { name, driver, modelScript, credentials, meter }: ResolvedAgent,
  { replay, faults }: { readonly replay: ReplayMode; readonly faults: readonly unknown[] },
): ModelLink | null {
  if (modelScript !== null) return { source: { kind: 'script', script: modelScript.value }, replay }
  if (driver.modelAccess === undefined) {
    if (faults.length === 0) return null
    throw new GantryError('USAGE', `agent '${name}' has no model, so no faults can be injected`, {
      hint: 'Leave --fault out, or name agents that call a model.',
    })
  }
  const upstream = upstreamFrom(credentials)
  const source: ModelSource = { kind: 'provider', upstream }
  const isMetered =
    meter === 'always' || (meter === 'auto' && !driver.modelAccess.reportsCost && hasKey(upstream))
  return replay !== 'off' || faults.length > 0 || isMetered ? { source, replay } : null
}

/** Fails before the run: without model access every trial would end as `infra`. */
export function requireModelAccess(agent: ResolvedAgent, modelLink: ModelLink | null): void {
  if (agent.home === 'host' || agent.probe.authenticated !== false) return
  if (modelLink !== null && isOffline(modelLink)) return
  const names = agent.driver.modelAccess?.credentials ?? []
  throw new GantryError('USAGE', `agent '${agent.name}' cannot proceed without model access`, {
    hint: `Set ${names.slice(0, 2).join(' or ')}, replay a cassette with --replay strict, or give it a model_script.`,
  })
}

/** Whether a cost limit applies. `meter: always` applies one to a script as well, to show what happens when it is reached. */
export function hasCostLimit(modelLink: ModelLink, meter: ResolvedAgent['meter']): boolean {
  return !isOffline(modelLink) || (modelLink.replay !== 'strict' && meter === 'always')
}
