import { asObject, type JsonObject } from '../../../core/json-fields.ts'
import { parseUnmarkedJson } from '../files/json-file.ts'
import { declaredPaths, unreadBundle } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginSource } from '../manifest/read-manifest.ts'
import { about } from '../notes.ts'

/** A server entry of any file, not checked yet. */
export interface ServerEntry {
  readonly name: string
  readonly config: unknown
  readonly path: string
  readonly line: number
}

const standard = '.mcp.json'

/** `.mcp.json`, then the files and objects of the manifest. Of two servers with one name the later wins. */
export function serverEntries(plugin: PluginSource): readonly ServerEntry[] {
  const { files, manifest, notes } = plugin
  const declared = declaredPaths('mcpServers', plugin)
  const paths = [standard, ...(declared?.paths ?? []).map(({ path }) => path)]
  const entries = [
    ...[...new Set(paths)].flatMap((path) =>
      files.placeOf(path) === 'missing' ? [] : entriesOfFile(path, plugin),
    ),
    ...(declared?.inline ?? []).flatMap(({ value, at }) =>
      entriesOf(value, manifestFile, (steps) => manifest.lineOf([...at, ...steps])),
    ),
  ]
  const byName = new Map<string, ServerEntry>()
  for (const entry of entries) {
    const before = byName.get(entry.name)
    if (before !== undefined)
      notes.add('NAME_COLLISION', {
        message: `the server ${entry.name} is declared in ${before.path} and in ${entry.path}; the later one wins`,
        severity: 'warning',
        ...about('mcp_server', entry),
      })
    byName.set(entry.name, entry)
  }
  return [...byName.values()]
}

function entriesOfFile(path: string, { files, notes }: PluginSource): readonly ServerEntry[] {
  if (/\.(?:mcpb|dxt)$/i.test(path)) {
    notes.add('MCP_INVALID', { ...unreadBundle(path), path })
    return []
  }
  const file = files.read(path)
  if (file === null) return []
  const parsed = parseUnmarkedJson(file)
  const top = parsed.kind === 'parsed' ? asObject(parsed.value) : null
  if (parsed.kind === 'broken' || top === null) {
    notes.add('MCP_INVALID', {
      message: `${path} is not a JSON object, so none of its servers start${parsed.kind === 'broken' ? `: ${parsed.text}` : ''}`,
      suggestion: 'Write { "mcpServers": { "name": { "command": "…" } } }.',
      path,
      line: parsed.kind === 'broken' ? parsed.line : 1,
    })
    return []
  }
  const wrapped = asObject(top.mcpServers)
  if (Array.isArray(top.mcpServers)) {
    notes.add('MCP_INVALID', {
      message: `mcpServers of ${path} is a list, so Claude Code calls its servers 0, 1, 2`,
      suggestion: 'Write an object with the names of the servers as keys.',
      severity: 'warning',
      path,
      line: parsed.lineOf(['mcpServers']),
    })
    return top.mcpServers.map((config, index) => ({
      name: String(index),
      config,
      path,
      line: parsed.lineOf(['mcpServers', index]),
    }))
  }
  return wrapped === null
    ? entriesOf(top, path, parsed.lineOf)
    : entriesOf(wrapped, path, (steps) => parsed.lineOf(['mcpServers', ...steps]))
}

function entriesOf(
  servers: JsonObject,
  path: string,
  lineOf: (steps: readonly string[]) => number,
): readonly ServerEntry[] {
  return Object.entries(servers).map(([name, config]) => ({ name, config, path, line: lineOf([name]) }))
}
