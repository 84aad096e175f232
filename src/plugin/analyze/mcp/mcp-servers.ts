import { asObject, asString, type JsonObject } from '../../../core/json-fields.ts'
import { componentId } from '../../component-list.ts'
import { toolPart } from '../component-names.ts'
import type { McpServerComponent } from '../contract.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import { pluginReferences } from '../files/plugin-references.ts'
import type { PluginManifest } from '../manifest/read-manifest.ts'
import type { Notes, Remark } from '../notes.ts'
import { typeWord } from '../type-word.ts'
import { serverEntries } from './server-entries.ts'

/** All servers of the plugin. Those that Claude Code would skip also become findings. */
export function mcpServers(
  files: PluginFiles,
  manifest: PluginManifest,
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
        message: `the server ${name} starts ${reference.path}, which does not exist`,
        suggestion: 'Correct the path, or build the server first.',
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

type ServerType = McpServerComponent['server_type']

const named: Readonly<Record<string, ServerType>> = {
  stdio: 'stdio',
  http: 'http',
  'streamable-http': 'http',
  sse: 'sse',
  ws: 'websocket',
  websocket: 'websocket',
}

/** The `type` key, else a guess from the other keys. `sse` must be explicit: its URL looks like any other. */
function serverType(config: JsonObject): ServerType {
  const explicit =
    typeof config.type === 'string' && Object.hasOwn(named, config.type) ? named[config.type] : undefined
  if (explicit !== undefined) return explicit
  if (config.command !== undefined) return 'stdio'
  if (typeof config.url !== 'string') return 'stdio'
  return /^wss?:/i.test(config.url) ? 'websocket' : 'http'
}

/** Why Claude Code would silently skip the server; null when it would start it. */
function serverProblem(config: unknown): { readonly message: string; readonly suggestion: string } | null {
  const fields = asObject(config)
  if (fields === null)
    return {
      message: `the server is ${typeWord(config)}, so it is skipped`,
      suggestion: 'Write an object with command or url.',
    }
  const { type, url, command } = fields
  if (type !== undefined && (typeof type !== 'string' || !Object.hasOwn(named, type)))
    return {
      message: `the type ${JSON.stringify(type)} is unknown, so the server is skipped`,
      suggestion: 'Use stdio, http, sse or ws.',
    }
  if (type === undefined && url !== undefined && command === undefined)
    return {
      message: 'the server has a url but no type, so Claude Code treats it as a program and skips it',
      suggestion: `Add "type": "${serverType(fields) === 'websocket' ? 'ws' : 'http'}".`,
    }
  if (serverType(fields) === 'stdio')
    return typeof command === 'string' && command !== ''
      ? null
      : {
          message: 'the server has no command, so it is skipped',
          suggestion: 'Add the program as command.',
        }
  return typeof url === 'string' && url !== ''
    ? null
    : { message: 'the server has no url, so it is skipped', suggestion: 'Add its address as url.' }
}

/** The variables a server needs, and whether it needs credentials. */
function serverNeeds(config: JsonObject): Pick<McpServerComponent, 'auth_required' | 'env_vars'> {
  const keys = Object.keys(asObject(config.env) ?? {})
  const headers = Object.keys(asObject(config.headers) ?? {})
  const referred = referredVariables(config)
  return {
    auth_required:
      [...keys, ...headers, ...referred].some((key) => opensDoors.test(key)) ||
      asObject(config.oauth) !== null,
    env_vars: [...new Set([...keys, ...referred])],
  }
}

const opensDoors = /TOKEN|KEY|SECRET|AUTH|PASSWORD|CREDENTIAL/i

/** Claude Code sets these itself. */
const given = ['CLAUDE_PLUGIN_ROOT', 'CLAUDE_PLUGIN_DATA', 'CLAUDE_PROJECT_DIR']

function referredVariables(config: JsonObject): readonly string[] {
  const words = [
    config.command,
    config.url,
    ...(Array.isArray(config.args) ? config.args : []),
    ...Object.values(asObject(config.env) ?? {}),
    ...Object.values(asObject(config.headers) ?? {}),
  ].filter((word) => typeof word === 'string')
  const names = words.flatMap((word) => [...word.matchAll(reference)].map((match) => match[1] ?? ''))
  return names.filter((name) => !given.includes(name))
}

/** `${VAR}` and `${VAR:-default}`; `${user_config.x}` comes from the user, not from the environment. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g

/** Reports credentials written into the file. The value is not shown. */
function noteSecrets(
  config: JsonObject,
  about: Pick<Remark, 'components' | 'path' | 'line'>,
  notes: Notes,
): void {
  for (const part of ['env', 'headers'] as const)
    for (const [key, value] of Object.entries(asObject(config[part]) ?? {}))
      if (opensDoors.test(key) && typeof value === 'string' && value.length >= 8 && !value.includes('${'))
        notes.add('MCP_SECRET_IN_FILE', {
          message: `${key} of ${part} is written in the file, where every user of the plugin can read it`,
          suggestion: `Write "\${${key.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()}}", and set the variable outside.`,
          ...about,
        })
}
