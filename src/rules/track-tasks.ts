import type { ToolCall } from '../core/hook-event.ts'
import { planSource as plan } from '../guard-engine/project/declaring-files.ts'
import type { Rule } from './contract.ts'

/** Has the plan looked at again whenever a call may have changed it; what follows from it the history knows. */
export const trackTasks: Rule = {
  name: 'track-tasks',
  on: ['tool_after'],
  wants: ({ event }) => (event.kind === 'tool_after' && mayChangePlan(event.call) ? ['project'] : []),
  judge: () => null,
}

function mayChangePlan({ action, input }: ToolCall): boolean {
  switch (action.kind) {
    case 'write':
    case 'edit':
      return isPlan(action.path)
    case 'patch':
      return action.files.some(({ path, to }) => isPlan(path) || (to !== undefined && isPlan(to)))
    case 'shell':
      return action.command.includes(plan)
    case 'unknown':
      return JSON.stringify(input ?? null).includes(plan)
    case 'read':
    case 'subagent':
      return false
  }
}

function isPlan(path: string): boolean {
  return path === plan || path.endsWith(`/${plan}`) || path.endsWith(`\\${plan}`)
}
