import { agentEnvironment } from '../../guard-install/agent-environment.ts'
import { type AgentGuard, guardForAgent } from '../../guard-install/guard-for-agent.ts'
import { hookBinPath } from '../../guard-install/hook-bin-path.ts'
import { installForRun } from '../../guard-install/temporary-guard.ts'
import type { GuardAgent } from './open-editor.ts'

/**
 * The guard around an agent that is no part of this process: the hooks that a person installed, or else hooks that are in the
 * agent's configuration for the time of a turn and gone when the tree is looked at.
 */
export const guardAgent: GuardAgent = async (request) => {
  const { agent, hasModelLink, host, run, root, home, scratch, settings, trustsHooks } = request
  const env = { ...agentEnvironment({ agent, host, hasModelLink, home, tmp: scratch }), ...settings }
  const place = { root, home: env.HOME ?? home, env }
  const program = { node: process.execPath, hookBin: hookBinPath() }
  const guard = guardForAgent(agent.driver.name, place, program, trustsHooks)
  return {
    env,
    problem: whatDoesNotHold(guard, agent.name),
    begin: async () => {
      if (guard.kind !== 'temporary') return { [Symbol.asyncDispose]: async () => {} }
      const { agent: hooked, path } = guard
      const end = await installForRun({ agent: hooked, path, place, program, runDir: run.dir })
      return { [Symbol.asyncDispose]: end }
    },
  }
}

function whatDoesNotHold(guard: AgentGuard, agent: string): string | null {
  switch (guard.kind) {
    case 'none':
      return `${agent} works without the guard: ${guard.why}. What it writes where it must not is put back after each turn, not refused before.`
    case 'installed':
      return guard.problems.length === 0
        ? null
        : `The guard in ${guard.path} may not hold: ${guard.problems.join('; ')}.`
    case 'temporary':
    case 'in_process':
      return null
  }
}
