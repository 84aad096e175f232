import { defined } from '../../core/json-fields.ts'
import { type AnyComponent, componentId } from '../component-list.ts'
import { contextWindow, expectedAgentModel } from '../config/model-names.ts'
import type { Analysis, Components, McpServerComponent, Preflight } from './contract.ts'
import { hookComponents } from './hooks/hook-components.ts'
import { listedComponents, listingBudget, noteListing } from './listing.ts'
import { checkManifest, usedManifest } from './manifest/read-manifest.ts'
import { mcpServers } from './mcp/mcp-servers.ts'
import { createNotes, type Notes } from './notes.ts'
import { noteOverlaps, rivalsOf } from './overlap/note-overlaps.ts'
import { preflightPlugin } from './preflight-plugin.ts'
import { type PluginContent, readCrowd, readPlugin } from './read-plugin.ts'

export interface AnalyzeOptions {
  readonly path: string
  readonly cwd: string
  /** Its name in a marketplace, for a plugin without a manifest. Default: the name of its directory. */
  readonly name?: string
  /** The context window of the model. Default: that of the model which Claude Code chooses. */
  readonly contextTokens?: number
  /** Directories of other plugins that are installed too. */
  readonly crowd?: readonly string[]
}

export type AnalyzeOutcome =
  | { readonly kind: 'analysed'; readonly analysis: Analysis }
  | { readonly kind: 'refused'; readonly preflight: Preflight }

/** Stage 1: reads the files of a plugin. Starts nothing, calls no model, changes nothing. */
export async function analyzePlugin(options: AnalyzeOptions): Promise<AnalyzeOutcome> {
  const { path, cwd, contextTokens = contextWindow(expectedAgentModel('default')), crowd = [] } = options
  const preflight = preflightPlugin(path, cwd, options.name)
  const { plugin_name: plugin, resolved_path: root } = preflight
  if (!preflight.valid || root === null || plugin === null) return { kind: 'refused', preflight }
  const manifest = usedManifest(root)
  // Preflight has just read it, so this happens only when the plugin changes meanwhile.
  if (manifest === null) return { kind: 'refused', preflight: preflightPlugin(path, cwd) }
  const notes = createNotes()
  if (preflight.manifest_path !== null) checkManifest(manifest, notes)
  const own = readPlugin(root, manifest, plugin, notes)
  noteMisplacedParts(own)
  const components: Components = {
    skills: own.skills.map(({ component }) => component),
    agents: own.agents,
    commands: own.commands.map(({ component }) => component),
    hooks: hookComponents(own),
    mcp_servers: mcpServers(own),
  }
  const others = readCrowd(crowd, cwd, own)
  noteCollisions(namedComponents(own, components.mcp_servers), notes)
  noteOverlaps(
    [own, ...others].flatMap((parts) => rivalsOf(parts, parts === own)),
    notes,
  )
  const listing = listingBudget(listedComponents([own, ...others]), contextTokens)
  noteListing(listing, own, contextTokens)
  return {
    kind: 'analysed',
    analysis: {
      schema_version: 1,
      plugin_name: plugin,
      plugin_path: root,
      manifest: manifest.fields,
      preflight,
      components,
      findings: notes.findings(),
      listing,
      trigger_understanding: triggerUnderstanding(components),
      content_hash: own.files.hash(),
      plugin_load_result: null,
    },
  }
}

/** Files that authors expect to be loaded, at places where Claude Code does not look. */
function noteMisplacedParts({ files, notes }: PluginContent): void {
  if (files.placeOf('CLAUDE.md') === 'file')
    notes.add('CONTEXT_FILE_IGNORED', {
      message: 'Claude Code does not load the CLAUDE.md of a plugin into the context',
      severity: 'info',
      path: 'CLAUDE.md',
    })
  const inside = files.list('.claude-plugin').filter(({ kind }) => kind === 'directory')
  for (const { name } of inside.filter((entry) =>
    ['skills', 'agents', 'commands', 'hooks'].includes(entry.name),
  ))
    notes.add('FILE_NOT_LOADED', {
      message: `.claude-plugin/${name} is not loaded: only plugin.json belongs in .claude-plugin`,
      suggestion: `Move the directory to ${name}/ at the root of the plugin.`,
      path: `.claude-plugin/${name}`,
    })
}

/** One map per type, by name, with the keys of the tool this format comes from. */
function triggerUnderstanding(components: Components): Analysis['trigger_understanding'] {
  return {
    skills: byName(components.skills, ({ triggers, negative_triggers, description }) =>
      defined({ triggers, negative_triggers, description }),
    ),
    agents: byName(components.agents, ({ examples, description }) => ({ examples, description })),
    commands: byName(components.commands, ({ invocation, arguments: args }) => ({
      invocation,
      arguments: args,
    })),
    hooks: byName(components.hooks, ({ event, matcher, matching_tools, expected_behavior }) => ({
      eventType: event,
      matcher,
      matchingTools: matching_tools,
      expectedBehavior: expected_behavior,
    })),
    mcp_servers: byName(components.mcp_servers, ({ server_type, auth_required, env_vars, known_tools }) => ({
      serverType: server_type,
      authRequired: auth_required,
      envVars: env_vars,
      knownTools: known_tools,
    })),
  }
}

function byName<T extends { readonly name: string }>(
  items: readonly T[],
  understood: (item: T) => unknown,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(items.map((item) => [item.name, understood(item)]))
}

/** A name in one of the CLI's name spaces: one for skills and commands, one for agents, one for servers. */
type Named = ReturnType<typeof named>

/** Reports components with the same name. In Claude Code's load order, the first one wins. */
function noteCollisions(named: readonly Named[], notes: Notes): void {
  const groups = Map.groupBy(named, ({ space, name }) => `${space}\0${name.toLowerCase()}`)
  for (const group of groups.values()) {
    const [first, ...others] = group
    if (first === undefined) continue
    for (const other of others) {
      if (other.id === first.id) continue
      const isHidden = other.name === first.name && !other.isAlias && !first.isAlias
      notes.add('NAME_COLLISION', {
        message: isHidden
          ? `${other.id} (${other.path}) and ${first.id} (${first.path}) are both ${first.name}; Claude Code reaches only the latter`
          : other.name === first.name
            ? `${other.id} calls itself ${other.name} in its frontmatter, which is also the name of ${first.id}`
            : `${other.name} and ${first.name} differ only in upper and lower case`,
        severity: isHidden ? 'error' : 'warning',
        components: [first.id, other.id],
        path: other.path,
        line: other.line,
      })
    }
  }
}

/** Every name of every component in Claude Code's load order; second names come last. */
function namedComponents(
  { commands, skills, agents }: PluginContent,
  servers: readonly McpServerComponent[],
): readonly Named[] {
  const invoked = [
    ...commands.map((found) => ({ type: 'command' as const, ...found })),
    ...skills.map((found) => ({ type: 'skill' as const, ...found })),
  ]
  return [
    ...invoked.map(({ type, component }) => named(type, 'invoked', component, component.cli_name)),
    ...agents.map((agent) => named('agent', 'agent', agent, agent.cli_name)),
    ...servers.map((server) => named('mcp_server', 'server', server, server.tool_prefix)),
    ...invoked.flatMap(({ type, component, alias }) =>
      alias === null ? [] : [{ ...named(type, 'invoked', component, alias), isAlias: true }],
    ),
  ]
}

function named(
  type: Parameters<typeof componentId>[0],
  space: 'invoked' | 'agent' | 'server',
  { name, path, line }: AnyComponent['component'],
  called: string,
) {
  /** `isAlias`: the name in its frontmatter, which also reaches it. */
  return { id: componentId(type, name), space, name: called, isAlias: false, path, line }
}
