import type { Tool } from '../../models/contract.ts'
import type { AgentHooks } from '../contract.ts'
import type { Halt } from '../scripted/halt.ts'
import { refused } from './tools/define-tool.ts'

/** The same tool, asked for leave first and reported afterwards. A hook that fails keeps the tool from being used. */
export function withHooks(tool: Tool, hooks: AgentHooks | undefined, halt: Halt): Tool {
  if (hooks === undefined) return tool
  return {
    ...tool,
    run: async (input, call) => {
      const asked = { id: call.id, tool: tool.name, input }
      const decision = await halt.race(hooks.beforeTool?.(asked))
      if (halt.cause() !== null) return refused('[stopped]')
      if (decision?.kind === 'deny') return refused(decision.reason)
      const answer = await tool.run(input, call)
      const told = await halt.race(hooks.afterTool?.({ ...asked, ...answer }))
      return told ? { ...answer, output: `${answer.output}\n\n${told}` } : answer
    },
  }
}
