import type { Analysis, Components, Preflight } from './contract.ts'
import { hookComponents } from './hooks/hook-components.ts'
import { defaultContextTokens, listedComponents, listingBudget, noteListing, placesOf } from './listing.ts'
import { checkManifest, readManifest } from './manifest/read-manifest.ts'
import { mcpServers } from './mcp/mcp-servers.ts'
import { namedComponents, noteCollisions } from './note-collisions.ts'
import { createNotes } from './notes.ts'
import { noteOverlaps, rivalsOf } from './overlap/note-overlaps.ts'
import { preflightPlugin } from './preflight-plugin.ts'
import { readCrowd, readPlugin } from './read-plugin.ts'

export interface AnalyzeOptions {
  readonly path: string
  readonly cwd: string
  /** The window of the model the plugin is listed for. Default: 200,000. */
  readonly contextTokens?: number
  /** Directories of other plugins that are installed too. */
  readonly crowd?: readonly string[]
}

export type AnalyzeOutcome =
  | { readonly kind: 'analysed'; readonly analysis: Analysis }
  | { readonly kind: 'refused'; readonly preflight: Preflight }

/** Stage 1: reads the files of a plugin. Starts nothing, calls no model, changes nothing. */
export async function analyzePlugin(options: AnalyzeOptions): Promise<AnalyzeOutcome> {
  const { path, cwd, contextTokens = defaultContextTokens, crowd = [] } = options
  const preflight = preflightPlugin(path, cwd)
  const { plugin_name: plugin, resolved_path: root } = preflight
  if (!preflight.valid || root === null || plugin === null) return { kind: 'refused', preflight }
  const read = readManifest(root)
  // Preflight has read it a moment ago: this happens only when the plugin changes meanwhile.
  if (read.kind !== 'read') return { kind: 'refused', preflight: preflightPlugin(path, cwd) }
  const notes = createNotes()
  checkManifest(read.manifest, notes)
  const own = readPlugin(root, read.manifest, plugin, notes)
  const components: Components = {
    skills: own.skills.map(({ component }) => component),
    agents: own.agents,
    commands: own.commands.map(({ component }) => component),
    hooks: hookComponents(own.files, read.manifest, plugin, notes),
    mcp_servers: mcpServers(own.files, read.manifest, plugin, notes),
  }
  const others = readCrowd(crowd, cwd, root, plugin, notes)
  noteCollisions(namedComponents(own, components.mcp_servers), notes)
  noteOverlaps(
    [own, ...others].flatMap((parts) => rivalsOf(parts, parts === own)),
    notes,
  )
  const listing = listingBudget(listedComponents([own, ...others]), contextTokens)
  noteListing(listing, placesOf(own), contextTokens, notes)
  return {
    kind: 'analysed',
    analysis: {
      schema_version: 1,
      plugin_name: plugin,
      plugin_path: root,
      manifest: read.manifest.fields,
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

/** One map per type, by name, with the keys of the tool this format comes from. */
function triggerUnderstanding(components: Components): Analysis['trigger_understanding'] {
  return {
    skills: byName(components.skills, ({ triggers, description }) => ({ triggers, description })),
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
