import { readManifest } from './manifest/read-manifest.ts'
import { createNotes, type Notes } from './notes.ts'
import { preflightPlugin } from './preflight-plugin.ts'
import { type PluginParts, readPlugin } from './read-plugin.ts'

/** What the other plugins offer. What is wrong with them is theirs; only that one cannot be read, or has our name, is said. */
export function readCrowd(
  paths: readonly string[],
  cwd: string,
  ownRoot: string,
  ownName: string,
  notes: Notes,
): readonly PluginParts[] {
  const roots = new Set([ownRoot])
  return paths.flatMap((path) => {
    const preflight = preflightPlugin(path, cwd)
    const { plugin_name: plugin, resolved_path: root } = preflight
    const read = preflight.valid && root !== null ? readManifest(root) : null
    if (root === null || plugin === null || read?.kind !== 'read') {
      notes.add('CROWD_REFUSED', {
        message: `the plugin at ${path} cannot be read: ${preflight.errors[0]?.message ?? 'it is changing'}`,
        suggestion: preflight.errors[0]?.suggestion ?? 'Try again.',
      })
      return []
    }
    if (roots.has(root)) return []
    roots.add(root)
    if (plugin === ownName)
      notes.add('NAME_COLLISION', {
        message: `the plugin at ${path} is called ${plugin}, too; Claude Code loads only one of them`,
        suggestion: 'Rename one of them, or leave it out.',
      })
    return [readPlugin(root, read.manifest, plugin, createNotes())]
  })
}
