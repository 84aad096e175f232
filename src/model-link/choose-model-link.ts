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
  {
    replay,
    faults,
    inside = false,
  }: {
    readonly replay: ReplayMode
    readonly faults: readonly unknown[]
    /** The agent runs where it reaches only the boundary. */
    readonly inside?: boolean
  },
): ModelLink | null {
  if (modelScript !== null) return { source: { kind: 'script', script: modelScript.value }, replay }
  if (driver.modelAccess === undefined) {
    if (faults.length === 0) return null
    throw new GantryError('USAGE', `agent '${name}' has no model, so no faults can be injected`, {
      hint: 'Remove --fault, or choose agents that call a model.',
    })
  }
  const upstream = upstreamFrom(credentials)
  const source: ModelSource = { kind: 'provider', upstream }
  const isMetered =
    meter === 'always' ||
    (meter === 'auto' && (inside || !driver.modelAccess.reportsCost) && hasKey(upstream))
  return replay !== 'off' || faults.length > 0 || isMetered ? { source, replay } : null
}

/**
 * What every face checks of its agents before anything costs money or time: that they can reach a model, and that the flags
 * about their models can have an effect. Returns the links by agent; one that is not listed calls its provider directly.
 */
export function preflightAgents(
  agents: Iterable<ResolvedAgent>,
  options: Parameters<typeof chooseModelLink>[1],
): ReadonlyMap<string, ModelLink> {
  const links = new Map<string, ModelLink>()
  const names: string[] = []
  for (const agent of agents) {
    const link = chooseModelLink(agent, options)
    requireModelAccess(agent, link)
    if (link !== null) links.set(agent.name, link)
    names.push(agent.name)
  }
  if (options.replay === 'record' && links.size === 0)
    throw new GantryError('USAGE', `${names.join(', ')} never calls a model, so nothing can be recorded`, {
      hint: 'Remove --replay record, or choose an agent that calls a model.',
    })
  return links
}

/** Fails before the run: without model access every trial would end as `infra`. */
function requireModelAccess(agent: ResolvedAgent, modelLink: ModelLink | null): void {
  const { name, driver } = agent
  const variables = lackingAccess(agent)
  if (variables === null || (modelLink !== null && isOffline(modelLink))) return
  throw new GantryError('USAGE', `agent '${name}' cannot proceed without model access`, {
    hint: `Set ${variables}, replay a cassette with --replay strict, or give it a model_script.${loginHint(driver.name)}`,
  })
}

/** What to set when an agent cannot reach a model of a provider; null when it can, or when that is not known. */
export function lackingAccess({
  driver,
  probe,
  home,
}: Pick<ResolvedAgent, 'driver' | 'probe' | 'home'>): string | null {
  // The login of a command-line agent is in the caller's HOME. The builtin agent has none.
  if (probe.authenticated !== false || (home === 'host' && driver.name !== 'builtin')) return null
  const secrets = (driver.modelAccess?.credentials ?? []).filter((name) => /_(KEY|TOKEN)$/.test(name))
  return secrets.slice(0, 3).join(' or ')
}

function loginHint(driver: string): string {
  return driver === 'builtin'
    ? ''
    : ' A login is not enough: every trial has a HOME of its own, unless the agent has `home: host` in gantry.yaml.'
}

/** What to do after a failed authentication. The agent's own advice to log in does not help in an isolated HOME. */
export function authAdvice({ driver, home }: Pick<ResolvedAgent, 'driver' | 'home'>): string {
  if (home === 'host') return ''
  const [variable] = driver.modelAccess?.credentials ?? []
  return variable === undefined ? '' : `. Check ${variable}.${loginHint(driver.name)}`
}

/** Whether a cost limit applies. With `meter: always` it applies to a script as well, to test reaching the limit. */
export function hasCostLimit(
  modelLink: Parameters<typeof isOffline>[0],
  meter: ResolvedAgent['meter'],
): boolean {
  return !isOffline(modelLink) || (modelLink.replay !== 'strict' && meter === 'always')
}
