import { printable } from '../../../guard-engine/printable.ts'
import type { Arm, ComponentType } from '../../contract.ts'
import { confidences, type Detection } from '../contract.ts'
import {
  isLoadedIn,
  type KnownComponent,
  type KnownComponents,
  type NameList,
  nameKey,
  nameList,
} from './known-components.ts'

/**
 * The component for a name as the CLI reports it: `plugin:skill`, `plugin:ns:command`, or without the plugin when only one
 * loaded component has the name. A full name is accepted in every arm, even where the plugin should not be loaded, so that a
 * leak is found. `prefer` is the type of an unknown name, and of the one that is meant when several share it. null for an empty name.
 */
export function resolveName(
  written: string,
  prefer: ComponentType,
  known: KnownComponents,
  arm: Arm,
): FoundComponent | null {
  if (written.trim() === '') return null
  const [one, ...others] = preferred(namesakes(written, nameList(prefer), known, arm), prefer)
  if (one !== undefined && others.length === 0) return foundKnown(one)
  // Trials have a home of their own, so what no plugin prefixes belongs to Claude Code.
  const isBuiltIn = one === undefined && !written.includes(':')
  return { ...foundForeign(prefer, written.trim()), ...(isBuiltIn && { built_in: true }) }
}

/** All components the name may mean, before a type is preferred. */
export function namesakes(
  written: string,
  list: NameList,
  known: KnownComponents,
  arm: Arm,
): readonly KnownComponent[] {
  const called = (form: 'full' | 'bare') =>
    (known.byName.get(nameKey(list, form, written)) ?? []).map(({ component }) => component)
  const full = called('full')
  return full.length > 0 ? full : called('bare').filter((component) => isLoadedIn(component, arm))
}

function preferred(components: readonly KnownComponent[], type: ComponentType): readonly KnownComponent[] {
  const ofType = components.filter((component) => component.type === type)
  return ofType.length > 0 ? ofType : components
}

/** A component named by a trace: a known one, or the CLI's name of an unknown one. */
export interface FoundComponent extends Pick<Detection, 'name' | 'cli_name' | 'plugin' | 'built_in'> {
  readonly type: ComponentType
}

export function foundKnown({ type, name, cli_name, plugin, own }: KnownComponent): FoundComponent {
  return { type, name: own ? name : cli_name, cli_name, plugin }
}

/** A model may invent a name of any length with any characters. */
export function foundForeign(type: ComponentType, written: string): FoundComponent {
  const name = printable(written, 200)
  return { type, name, cli_name: name, plugin: null }
}

/**
 * The MCP server of a tool; null when the tool belongs to no server. Server names may contain `_` and tool names `__`. A known
 * server is recognised by its prefix, the longest first, unless a server with a shorter prefix is known to have this tool. The
 * name of an unknown server ends at the first `__`.
 */
function mcpServerOf(toolName: string, known: KnownComponents): FoundComponent | null {
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

/** The prefix alone is not a tool. */
function isToolOf(toolName: string, prefix: string): boolean {
  return prefix !== '' && toolName.length > prefix.length && toolName.startsWith(prefix)
}

/** A server lists its tools by short name, the CLI by full name. */
function isCalled(toolName: string, prefix: string, tool: string): boolean {
  return toolName === tool || toolName === `${prefix}${tool}`
}

export interface ToolInvocation {
  readonly name: string
  readonly input: unknown
}

/** The component that a tool call starts; null when it starts none. The input comes from a model and may be anything. */
export function toolComponent(
  { name, input }: ToolInvocation,
  known: KnownComponents,
  arm: Arm,
): FoundComponent | null {
  switch (name) {
    case 'Skill': {
      const skill = textField(input, 'skill') ?? textField(input, 'command')
      return skill === null ? null : resolveName(skill, 'skill', known, arm)
    }
    case 'SlashCommand': {
      const typed = textField(input, 'command')
      return typed === null ? null : commandComponent(typed, known, arm)
    }
    case 'Task':
    case 'Agent': {
      const type = textField(input, 'subagent_type')
      return type === null ? null : resolveName(type, 'agent', known, arm)
    }
    default:
      return mcpServerOf(name, known)
  }
}

/** The component for `/name arguments`, with or without slash and arguments. A prompt of an MCP server counts as its server. */
export function commandComponent(typed: string, known: KnownComponents, arm: Arm): FoundComponent | null {
  const [word = ''] = typed.trim().split(/\s/, 1)
  const name = word.replace(/^\//, '')
  return mcpServerOf(name, known) ?? resolveName(name, 'command', known, arm)
}

function textField(input: unknown, key: string): string | null {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, key)) return null
  const value: unknown = Reflect.get(input, key)
  return typeof value === 'string' ? value : null
}

type Trace = Pick<Detection, 'source' | 'evidence' | 'timestamp' | 'tool_use_id'>

export function detectionOf(found: FoundComponent, trace: Trace): Detection {
  const { type, name, cli_name, plugin, built_in } = found
  const { source, evidence, timestamp, tool_use_id } = trace
  return {
    component_type: type,
    name,
    cli_name,
    plugin,
    ...(built_in !== undefined && { built_in }),
    confidence: confidences[source],
    source,
    evidence,
    ...(tool_use_id !== undefined && { tool_use_id }),
    timestamp,
  }
}
