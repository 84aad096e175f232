import { agentVariables } from '../config/agent-variables.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { Variables } from '../core/expand.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'

export interface EnvironmentFacts {
  readonly agent: ResolvedAgent
  readonly host: Variables
  readonly hasModelLink: boolean
  readonly home: string
  readonly tmp: string
}

/** Variables with the locations of a user's logins and tools, besides HOME. */
const personal =
  'XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_RUNTIME_DIR TMPDIR USER LOGNAME SHELL CLAUDE_CONFIG_DIR CODEX_HOME COPILOT_HOME GEMINI_CLI_HOME SSH_AUTH_SOCK NODE_EXTRA_CA_CERTS SSL_CERT_FILE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy'.split(
    ' ',
  )

/**
 * The environment of the agent: only what it needs from the caller, with the caller's home unless the agent has its own. Its guard uses the
 * same settings and ledger as the guard outside, but does not require other open tasks.
 */
export function agentEnvironment(facts: EnvironmentFacts): Record<string, string> {
  const { agent, host, hasModelLink, home, tmp } = facts
  const isHost = agent.home === 'host' && host.HOME !== undefined
  return {
    ...hermeticEnv({
      host,
      home: isHost ? (host.HOME ?? home) : home,
      tmp,
      inherit: [
        ...(isHost ? personal : []),
        ...Object.keys(host).filter((name) => name.startsWith('HARNESS_')),
      ],
    }),
    ...agentVariables(agent, host, hasModelLink),
    GANTRY_GUARD_HOME: guardHome(host),
    HARNESS_REQUIRE_PLAN_CHECK: 'false',
  }
}
