import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { componentId } from '../../component-list.ts'
import { toolPart } from '../component-names.ts'
import type { McpServerComponent } from '../contract.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import { pluginReferences } from '../files/plugin-references.ts'
import type { Manifest } from '../manifest/read-manifest.ts'
import type { Notes } from '../notes.ts'
import { serverEntries } from './server-entries.ts'
import { noteSecrets, serverNeeds } from './server-needs.ts'
import { serverProblem, serverType } from './server-type.ts'

/** Every server Claude Code would start, and those it leaves out, which is written down. */
export function mcpServers(
  files: PluginFiles,
  manifest: Manifest,
  plugin: string,
  notes: Notes,
): readonly McpServerComponent[] {
  const found: McpServerComponent[] = []
  const started: McpServerComponent[] = []
  for (const { name, config, path, line } of serverEntries(files, manifest, notes)) {
    const about = { components: [componentId('mcp_server', name)], path, line }
    const problem = serverProblem(config)
    if (problem !== null) notes.add('MCP_INVALID', { ...problem, ...about })
    const fields = asObject(config)
    if (fields === null) continue
    const component = serverComponent(name, fields, plugin, path, line)
    found.push(component)
    if (problem === null) started.push(component)
    noteSecrets(fields, about, notes)
    noteScripts(component, files, notes)
  }
  noteTwins(started, notes)
  return found
}

function serverComponent(
  name: string,
  config: JsonObject,
  plugin: string,
  path: string,
  line: number,
): McpServerComponent {
  const command = asString(config.command)
  const url = asString(config.url)
  const args = Array.isArray(config.args) ? config.args.filter((item) => typeof item === 'string') : undefined
  const type = serverType(config)
  const cli = `plugin:${plugin}:${name}`
  return {
    name,
    cli_name: cli,
    plugin,
    path,
    line,
    description:
      `${type} server: ${[command, ...(args ?? []), url].filter((word) => word !== undefined).join(' ')}`.slice(
        0,
        200,
      ),
    server_type: type,
    ...(command !== undefined && { command }),
    ...(args !== undefined && { args }),
    ...(url !== undefined && { url }),
    ...serverNeeds(config),
    tool_prefix: `mcp__${toolPart(cli)}__`,
    known_tools: [],
  }
}

function noteScripts(component: McpServerComponent, files: PluginFiles, notes: Notes): void {
  const { name, path, line } = component
  const words = [component.command ?? '', ...(component.args ?? [])].join(' ')
  for (const reference of pluginReferences(words))
    if (files.placeOf(reference.path) === 'missing')
      notes.add('MCP_SCRIPT_MISSING', {
        message: `the server ${name} starts ${reference.path}, which is not there`,
        suggestion: 'Correct the path, or build the server before the plugin is tried.',
        components: [componentId('mcp_server', name)],
        path,
        line,
      })
}

/** Of servers that are the same program with the same arguments Claude Code starts the first. */
function noteTwins(components: readonly McpServerComponent[], notes: Notes): void {
  const key = ({ command, args, url }: McpServerComponent): string => JSON.stringify([command, args, url])
  for (const [first, ...others] of Map.groupBy(components, key).values())
    for (const { name, path, line } of others)
      notes.add('MCP_DUPLICATE', {
        message: `${name} is the same program as ${first?.name ?? name}; Claude Code starts only that one`,
        suggestion: 'Remove one of them.',
        components: [componentId('mcp_server', first?.name ?? name), componentId('mcp_server', name)],
        path,
        line,
      })
}
