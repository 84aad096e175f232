import type { Analysis, Components, Preflight } from './contract.ts'
import { hookComponents } from './hooks/hook-components.ts'
import { listedComponents, placesOf } from './listed-components.ts'
import { defaultContextTokens, listingBudget } from './listing.ts'
import { checkManifest } from './manifest/check-manifest.ts'
import { readManifest } from './manifest/read-manifest.ts'
import { mcpServers } from './mcp/mcp-servers.ts'
import { namedComponents } from './named-components.ts'
import { noteCollisions } from './note-collisions.ts'
import { noteListing } from './note-listing.ts'
import { createNotes } from './notes.ts'
import { noteOverlaps } from './overlap/note-overlaps.ts'
import { rivalsOf } from './overlap/rivals-of.ts'
import { preflightPlugin } from './preflight-plugin.ts'
import { readCrowd } from './read-crowd.ts'
import { readPlugin } from './read-plugin.ts'
import { triggerUnderstanding } from './trigger-understanding.ts'

export interface AnalyzeOptions {
  readonly path: string
  readonly cwd: string
  /** The window of the model the plugin is listed for. Default: 200,000. */
  readonly contextTokens?: number
  /** Directories of other plugins that are there, too. */
  readonly crowd?: readonly string[]
}

export type AnalyzeOutcome =
  | { readonly kind: 'analysed'; readonly analysis: Analysis }
  | { readonly kind: 'refused'; readonly preflight: Preflight }

/** Stage 1: what the files of a plugin say. Starts nothing, asks no model, changes nothing. */
export async function analyzePlugin(options: AnalyzeOptions): Promise<AnalyzeOutcome> {
  const { path, cwd, contextTokens = defaultContextTokens, crowd = [] } = options
  const preflight = preflightPlugin(path, cwd)
  const { plugin_name: plugin, resolved_path: root } = preflight
  if (!preflight.valid || root === null || plugin === null) return { kind: 'refused', preflight }
  const read = readManifest(root)
  // It was there a moment ago, and only somebody who changes the plugin meanwhile comes here.
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
