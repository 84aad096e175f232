import type { ResolvedAgent } from './resolve-agent.ts'

/**
 * The variables of the caller's environment that the agent gets. With a model link it does not get the keys of its provider: it
 * does not need them, so it cannot leak them.
 */
export function agentVariables(
  agent: Pick<ResolvedAgent, 'inheritEnv' | 'credentials' | 'env'>,
  host: Readonly<Record<string, string | undefined>>,
  hasModelLink: boolean,
): Record<string, string> {
  const own = { ...inherited(agent.inheritEnv, host), ...agent.credentials, ...agent.env }
  return hasModelLink ? withoutKeys(agent, own) : own
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
