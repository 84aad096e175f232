import type { Grader } from '../generate/contract.ts'
import { type CaseProblem, problem } from './case-problem.ts'
import type { WrittenCase } from './read-case.ts'

/** That there are mocks of MCP tools, which only the built-in runner uses. */
export function unusedMocks(path: string): CaseProblem {
  return problem(
    'warning',
    path,
    "mocks of MCP tools are not used here: whoever calls such a tool calls the plugin's real server",
  )
}

/**
 * A case that is about MCP tools, with mocks in their place, would do for real what its author meant to be played. It takes part
 * only when real servers were asked for.
 */
export function mockedOnly(
  { graders, dir }: WrittenCase,
  casePath: string,
  mocks: readonly string[],
): CaseProblem | null {
  const applies = mocks.some((path) => `${casePath}/`.startsWith(path.slice(0, -'mocks'.length)))
  if (!applies || !graders.some(isAboutServers)) return null
  return problem(
    'error',
    dir,
    "is about MCP tools and has mocks for them, which are not used here: it would call the plugin's real servers",
    'Put mcp_servers in scope to have it run against them.',
  )
}

function isAboutServers(grader: Grader): boolean {
  switch (grader.type) {
    case 'tool_used':
      return isServerTool(grader.use.tool)
    case 'tool_order':
      return isServerTool(grader.before.tool) || isServerTool(grader.after.tool)
    case 'regex':
      return grader.target === 'mock_calls' || grader.pattern.includes('mcp__')
    case 'llm':
      return grader.focus === 'mock_calls'
    case 'file_exists':
    case 'baseline':
      return false
  }
}

function isServerTool(tool: string): boolean {
  return tool.startsWith('mcp__')
}
