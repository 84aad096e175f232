import type { AgentGuard } from './guard-for-agent.ts'

/** One sentence for a person. What does not hold is said aloud. */
export function describeGuard(guard: AgentGuard, agent: string): string {
  switch (guard.kind) {
    case 'in_process':
      return `${agent} runs in this process and asks the guard before every tool and every stop`
    case 'installed':
      return guard.problems.length === 0
        ? `installed in ${guard.path}`
        : `installed in ${guard.path}, but: ${guard.problems.join('; ')}`
    case 'temporary':
      return `installed in ${guard.path} for the time of the run`
    case 'none':
      return `UNGUARDED: ${guard.why}. Only Gantry's own verification decides`
  }
}
