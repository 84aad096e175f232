import type { ResolvedAgent } from './resolve-agent.ts'

/**
 * What an agent is owed of the caller's environment. One whose model is behind the boundary is not given the keys to it: it
 * needs none, and could not lose them.
 */
export function ownVariables(
  agent: Pick<ResolvedAgent, 'inheritEnv' | 'credentials' | 'env'>,
  host: Readonly<Record<string, string | undefined>>,
  isBehind: boolean,
): Record<string, string> {
  const own = { ...inherited(agent.inheritEnv, host), ...agent.credentials, ...agent.env }
  return isBehind ? withoutKeys(agent, own) : own
}

export function withoutKeys(
  { credentials }: Pick<ResolvedAgent, 'credentials'>,
  env: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !Object.hasOwn(credentials, name)))
}

function inherited(
  names: readonly string[],
  host: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (host[name] === undefined ? [] : [[name, host[name]]])))
}
