import { agentVariables } from '../config/agent-variables.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'

type Variables = Readonly<Record<string, string | undefined>>

export interface EnvironmentFacts {
  readonly agent: ResolvedAgent
  /** Of the caller. */
  readonly host: Variables
  readonly hasModelLink: boolean
  /** For an agent that lives apart. */
  readonly home: string
  readonly tmp: string
}

/** Where a person's logins and tools are, besides HOME. */
const personal = [
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'TMPDIR',
  'USER',
  'LOGNAME',
  'SHELL',
  'CLAUDE_CONFIG_DIR',
  'CODEX_HOME',
  'COPILOT_HOME',
  'GEMINI_CLI_HOME',
  'SSH_AUTH_SOCK',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
]

/**
 * What the agent sees: of the caller only what it is owed, with the caller's home unless it lives apart. The guard in it reads
 * the same settings and writes the same ledger as the guard outside; other open tasks are not its business.
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
