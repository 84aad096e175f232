import { type FoundComponent, foundForeign, foundKnown } from './found-component.ts'
import type { KnownComponents } from './known-components.ts'

/**
 * The server a tool belongs to, null when it is no tool of a server. Names of servers may hold `_`, names of tools `__`:
 * a known server is recognised by its prefix, the longest first, unless a shorter one is known to have just this tool.
 * Of an unknown server all up to the first `__` is the name.
 */
export function mcpServerOf(toolName: string, known: KnownComponents): FoundComponent | null {
  if (!toolName.startsWith(mark)) return null
  const fitting = known.servers.filter(({ tools }) => tools !== undefined && isToolOf(toolName, tools.prefix))
  const server =
    fitting.find(({ tools }) => tools?.known.some((tool) => isCalled(toolName, tools.prefix, tool))) ??
    fitting[0]
  if (server !== undefined) return foundKnown(server)
  const end = toolName.indexOf('__', mark.length)
  return end <= mark.length ? null : foundForeign('mcp_server', toolName.slice(mark.length, end))
}

const mark = 'mcp__'

/** The prefix alone is no tool. */
function isToolOf(toolName: string, prefix: string): boolean {
  return prefix !== '' && toolName.length > prefix.length && toolName.startsWith(prefix)
}

/** A server tells its tools by their own names, the CLI by their full ones. */
function isCalled(toolName: string, prefix: string, tool: string): boolean {
  return toolName === tool || toolName === `${prefix}${tool}`
}
