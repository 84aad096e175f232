import type { ToolCall } from '../core/hook-event.ts'
import { planCommandSource as plan } from '../guard-engine/project/command-sources.ts'
import type { Rule } from './contract.ts'

/** Reads the plan again whenever a call may have changed it. The history derives the tasks from it. */
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
