import { asArray, asObject, asString, asStrings, type JsonObject } from '../../../core/json-fields.ts'
import { componentId } from '../../component-list.ts'
import { toolPart } from '../component-names.ts'
import type { McpServerComponent } from '../contract.ts'
import { describeType } from '../describe-type.ts'
import { pluginReferences } from '../files/plugin-references.ts'
import { manifestFile, type PluginSource } from '../manifest/read-manifest.ts'
import { about, type Notes } from '../notes.ts'
import { type ServerEntry, serverEntries } from './server-entries.ts'

/** All servers of the plugin. Those that Claude Code would skip also become findings. */
export function mcpServers(plugin: PluginSource): readonly McpServerComponent[] {
  const { notes } = plugin
  const found: McpServerComponent[] = []
  const started: { component: McpServerComponent; key: string }[] = []
  for (const entry of serverEntries(plugin)) {
    const problem = serverProblem(entry.config)
    if (problem !== null) {
      const { message, suggestion, effect } = problem
      const unloads = entry.path === manifestFile && effect !== 'fails'
      const drops = unloads
        ? 'Claude Code loads nothing of this plugin'
        : 'Claude Code drops the server without a message'
      notes.add('MCP_INVALID', {
        message: `${message.replace('the server', () => `the server ${entry.name}`)}, so ${effect === 'fails' ? 'it never connects' : drops}`,
        suggestion,
        unloads,
        ...about('mcp_server', entry),
      })
    }
    const fields = asObject(entry.config)
    if (fields === null) continue
    const component = serverComponent(entry, fields, plugin.name)
    found.push(component)
    if (problem === null) started.push({ component, key: sameness(fields) })
    noteSecrets(fields, component, notes)
    noteScripts(component, plugin)
  }
  noteTwins(started, notes)
  return found
}

function serverComponent(
  { name, path, line }: ServerEntry,
  config: JsonObject,
  plugin: string,
): McpServerComponent {
  const command = asString(config.command)
  const url = asString(config.url)
  const args = asStrings(config.args)
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

function noteScripts(component: McpServerComponent, { files, notes }: PluginSource): void {
  const words = [component.command ?? '', ...(component.args ?? [])].join(' ')
  for (const reference of pluginReferences(words))
    if (files.placeOf(reference.path) === 'missing')
      notes.add('MCP_SCRIPT_MISSING', {
        message: `the server ${component.name} starts ${reference.path}, which does not exist`,
        ...about('mcp_server', component),
      })
}

function sameness({ command, args, url, env, headers }: JsonObject): string {
  return JSON.stringify([command, args, url, env, headers])
}

/** Of servers with the same program, arguments and variables, Claude Code starts the first. */
function noteTwins(started: readonly { component: McpServerComponent; key: string }[], notes: Notes): void {
  for (const [first, ...others] of Map.groupBy(started, ({ key }) => key).values())
    for (const {
      component: { name, path, line },
    } of others)
      notes.add('MCP_DUPLICATE', {
        message: `${name} is the same program as ${first?.component.name ?? name}; Claude Code starts only that one`,
        components: [
          componentId('mcp_server', first?.component.name ?? name),
          componentId('mcp_server', name),
        ],
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

interface ServerProblem {
  readonly message: string
  readonly suggestion: string
  /** It is loaded, but never connects. */
  readonly effect?: 'fails'
}

/** Why Claude Code would not start the server; null when it would. */
function serverProblem(config: unknown): ServerProblem | null {
  const fields = asObject(config)
  if (fields === null)
    return {
      message: `the server is ${describeType(config)}`,
      suggestion: 'Write an object with command or url.',
    }
  const { type, url, command } = fields
  if (type !== undefined && (typeof type !== 'string' || !Object.hasOwn(named, type)))
    return {
      message: `the type ${JSON.stringify(type)} of the server is unknown`,
      suggestion: 'Use stdio, http, sse or ws.',
    }
  if (type === undefined && url !== undefined && command === undefined)
    return {
      message: 'the server has a url but no type',
      suggestion: `Add "type": "${serverType(fields) === 'websocket' ? 'ws' : 'http'}".`,
    }
  const isProgram = serverType(fields) === 'stdio'
  const wrong = (isProgram ? programTypes : addressTypes).find(
    ([key, , fits]) => fields[key] !== undefined && !fits(fields[key]),
  )
  if (wrong !== undefined)
    return {
      message: `${wrong[0]} of the server is ${typesIn(fields[wrong[0]])}`,
      suggestion: `Write ${wrong[1]}.`,
    }
  if (isProgram)
    return command === undefined || command === ''
      ? { message: 'the server has no command', suggestion: 'Add the program as command.' }
      : null
  if (url === undefined || url === '')
    return { message: 'the server has no url', suggestion: 'Add its address as url.' }
  return typeof url === 'string' && !url.includes('${') && !URL.canParse(url)
    ? {
        message: `the url ${JSON.stringify(url)} of the server is not an address`,
        suggestion: 'Write it in full: https://host/path.',
        effect: 'fails',
      }
    : null
}

type TypeRule = readonly [key: string, words: string, fits: (value: unknown) => boolean]

const isText = (value: unknown): boolean => typeof value === 'string'
const isTextMap = (value: unknown): boolean => Object.values(asObject(value) ?? { none: null }).every(isText)
const timeout: TypeRule = ['timeout', 'a number of milliseconds', (value) => typeof value === 'number']
const programTypes: readonly TypeRule[] = [
  ['command', 'the program as a text, and its arguments as args', isText],
  ['args', 'a list of texts', (value) => Array.isArray(value) && value.every(isText)],
  ['env', 'an object of texts: numbers in quotes', isTextMap],
  timeout,
]
const addressTypes: readonly TypeRule[] = [
  ['url', 'the address as a text', isText],
  ['headers', 'an object of texts: numbers in quotes', isTextMap],
  timeout,
]

/** `a list with a number`: the part that is wrong may be inside. */
function typesIn(value: unknown): string {
  const inner = typeof value === 'object' && value !== null ? Object.values(value) : []
  const odd = inner.find((item) => !isText(item))
  return odd === undefined ? describeType(value) : `${describeType(value)} with ${describeType(odd)}`
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
    ...asArray(config.args),
    ...Object.values(asObject(config.env) ?? {}),
    ...Object.values(asObject(config.headers) ?? {}),
  ].filter((word) => typeof word === 'string')
  const names = words.flatMap((word) => [...word.matchAll(reference)].map((match) => match[1] ?? ''))
  return names.filter((name) => !given.includes(name))
}

/** `${VAR}` and `${VAR:-default}`; `${user_config.x}` comes from the user, not from the environment. */
const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g

/** Reports credentials written into the file. The value is not shown. */
function noteSecrets(config: JsonObject, component: McpServerComponent, notes: Notes): void {
  for (const part of ['env', 'headers'] as const)
    for (const [key, value] of Object.entries(asObject(config[part]) ?? {}))
      if (opensDoors.test(key) && typeof value === 'string' && value.length >= 8 && !value.includes('${'))
        notes.add('MCP_SECRET_IN_FILE', {
          message: `${key} of ${part} is written in the file, where every user of the plugin can read it`,
          suggestion: `Write "\${${key.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase()}}", and set the variable outside.`,
          ...about('mcp_server', component),
        })
}
