import type { HookedAgent } from '../../agents/hook-codecs.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'

/**
 * Copilot also runs the hooks of Claude Code, each as a line for a shell. Claude Code takes the path of a program as it is, so that
 * no quoting suits both.
 */
export function copilotWarning(
  agent: HookedAgent,
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const home = guardHome(env)
  if ((agent !== 'claude-code' && agent !== 'copilot') || /^[\w@%+=:,./-]*$/.test(home)) return []
  return [
    `The guard's home, ${home}, has characters in it that a shell does not take as they are. Copilot runs the hooks of Claude Code through a shell: where the guard is installed for Claude Code, Copilot would deny every tool. Set GANTRY_GUARD_HOME to a plain path and install again if you use Copilot here.`,
  ]
}
