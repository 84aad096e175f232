import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { GantryError } from '../core/error.ts'
import type { ModelBehind, ModelSource } from '../models/boundary/behind.ts'
import type { ReplayMode } from '../models/boundary/replay-mode.ts'
import { hasKey, upstreamFrom } from '../models/boundary/upstream.ts'

/** What stands behind an agent in this run; null when it speaks to its provider by itself. */
export function modelBehind(
  { name, driver, modelScript, credentials, meter }: ResolvedAgent,
  { replay, faults }: { readonly replay: ReplayMode; readonly faults: readonly unknown[] },
): ModelBehind | null {
  if (modelScript !== null) return { source: { kind: 'script', script: modelScript.value }, replay }
  if (driver.modelAccess === undefined) {
    if (faults.length === 0) return null
    throw new GantryError('USAGE', `agent '${name}' has no model whose calls could be broken`, {
      hint: 'Leave --fault out, or name agents that ask a model.',
    })
  }
  const upstream = upstreamFrom(credentials)
  const source: ModelSource = { kind: 'provider', upstream }
  const isMetered =
    meter === 'always' || (meter === 'auto' && !driver.modelAccess.reportsCost && hasKey(upstream))
  return replay !== 'off' || faults.length > 0 || isMetered ? { source, replay } : null
}

/** An agent that certainly cannot reach its model would only make every trial `infra`. */
export function refuseLockedOut(agent: ResolvedAgent, behind: ModelBehind | null): void {
  if (agent.home === 'host' || agent.probe.authenticated !== false) return
  if (behind !== null && (behind.source.kind === 'script' || behind.replay === 'strict')) return
  const names = agent.driver.modelAccess?.credentials ?? []
  throw new GantryError('USAGE', `agent '${agent.name}' cannot proceed without model access`, {
    hint: `Set ${names.slice(0, 2).join(' or ')}, replay a cassette with --replay strict, or give it a model_script.`,
  })
}
