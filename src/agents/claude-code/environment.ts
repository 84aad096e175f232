import type { CliPlace } from '../cli/contract.ts'
import type { SessionRequest } from '../contract.ts'

/** Ways to other providers; with one of them the address of the boundary would not be looked at. */
const switches = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY']

/** What Claude Code needs to know by variables. What the user set himself stays, but for the way to the model. */
export function environment(
  { permission_mode: mode }: { readonly permission_mode: string },
  { env, endpoint }: Pick<SessionRequest, 'env' | 'endpoint'>,
  { isRoot }: Pick<CliPlace, 'isRoot'>,
): Readonly<Record<string, string>> {
  const wished = {
    // Nothing but calls of the model leaves the program: no telemetry, no update, no look-up.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Its shell writes beside TMPDIR otherwise.
    ...(env.TMPDIR !== undefined && { CLAUDE_CODE_TMPDIR: env.TMPDIR }),
    // As root it refuses to work without permissions unless it is told that it cannot do harm.
    ...(isRoot && mode === 'bypassPermissions' && { IS_SANDBOX: '1' }),
  }
  return {
    ...Object.fromEntries(Object.entries(wished).filter(([name]) => env[name] === undefined)),
    ...(endpoint !== undefined && {
      ANTHROPIC_BASE_URL: endpoint.url,
      ANTHROPIC_API_KEY: endpoint.key,
      ...Object.fromEntries(switches.filter((name) => env[name] !== undefined).map((name) => [name, '0'])),
    }),
  }
}
