import {
  asArray,
  asObject,
  asObjects,
  asString,
  asStrings,
  defined,
  type JsonObject,
} from '../../../core/json-fields.ts'
import type { LoadedParts } from '../../contract.ts'
import { pluginErrorWords } from '../stream.ts'

/**
 * What Claude Code says about itself: when the session began, in its `init` line, and about its MCP servers, if it was asked
 * and answered.
 */
export function loadedParts(
  begun: JsonObject,
  init: JsonObject | null,
  servers: readonly JsonObject[] | null,
): LoadedParts {
  const tools = asStrings(init?.tools) ?? []
  const told = (servers ?? asObjects(init?.mcp_servers)).map((server) => serverOf(server, tools))
  // A server may have connected after the `init` line was said.
  const later = told.flatMap(({ name, tools: own = [] }) => own.map((tool) => `${prefixOf(name)}${tool}`))
  return {
    version: asString(init?.claude_code_version) ?? asString(begun.claude_code_version) ?? null,
    session_id: asString(init?.session_id) ?? null,
    tools: [...new Set([...tools, ...later])],
    skills: asStrings(init?.skills) ?? [],
    agents: asStrings(init?.agents) ?? namesIn(begun.agents),
    commands: asStrings(init?.slash_commands) ?? namesIn(begun.commands),
    plugins: asObjects(init?.plugins).map(({ name, path }) => ({
      name: asString(name) ?? '',
      path: asString(path) ?? '',
    })),
    plugin_errors: asArray(init?.plugin_errors).map(pluginErrorWords),
    mcp_servers: told,
  }
}

function serverOf(server: JsonObject, tools: readonly string[]): LoadedParts['mcp_servers'][number] {
  const name = asString(server.name) ?? ''
  const prefix = prefixOf(name)
  const seen = tools.filter((tool) => tool.startsWith(prefix)).map((tool) => tool.slice(prefix.length))
  return defined({
    name,
    status: asString(server.status) ?? 'unknown',
    tools: server.tools === undefined ? (seen.length > 0 ? seen : undefined) : namesIn(server.tools),
    error: asString(server.error),
  })
}

/** A server's tools are known to the model by the server's name, in letters an API takes. */
function prefixOf(server: string): string {
  return `mcp__${server.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}__`
}

function namesIn(list: unknown): readonly string[] {
  return asArray(list).flatMap((item) => asString(item) ?? asString(asObject(item)?.name) ?? [])
}
