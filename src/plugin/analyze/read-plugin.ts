import { agentComponent, discoverAgents } from './agents/agent-component.ts'
import { commandComponent, commandText, discoverCommands } from './commands/command-component.ts'
import { createComponentNames } from './component-names.ts'
import { openPluginFiles } from './files/plugin-files.ts'
import { readMarkdown } from './frontmatter/read-markdown.ts'
import {
  manifestFile,
  type PluginManifest,
  type PluginSource,
  usedManifest,
} from './manifest/read-manifest.ts'
import { createNotes, type Notes } from './notes.ts'
import { preflightPlugin } from './preflight-plugin.ts'
import { discoverSkills, skillComponent } from './skills/skill-component.ts'

/** The components of one plugin that a model chooses among, in Claude Code's order. */
export type PluginContent = ReturnType<typeof readPlugin>

/** `root` is absolute and resolved. Problems become findings. */
export function readPlugin(root: string, manifest: PluginManifest, name: string, notes: Notes) {
  const files = openPluginFiles(root, notes)
  files.read(manifestFile)
  const plugin = { name, manifest, files, notes }
  const commandNames = createComponentNames()
  const commands = discoverCommands(plugin).flatMap((source) => {
    const file = commandText(source, files)
    return file === null ? [] : [commandComponent(source, readMarkdown(file), plugin, commandNames)]
  })
  const skillNames = createComponentNames()
  const skills = discoverSkills(plugin).flatMap((source) => {
    const file = files.readComponent(source.path)
    return file === null ? [] : [skillComponent(source, readMarkdown(file), plugin, skillNames)]
  })
  const agentNames = createComponentNames()
  const agents = discoverAgents(plugin).flatMap((source) => {
    const file = files.readComponent(source.path)
    return file === null ? [] : [agentComponent(source, readMarkdown(file), plugin, agentNames)]
  })
  return { ...plugin, commands, skills, agents }
}

/** The components of the other plugins. Their own findings are dropped; only an unreadable plugin or one with our name is reported. */
export function readCrowd(
  paths: readonly string[],
  cwd: string,
  { name: ownName, files, notes }: PluginSource,
): readonly PluginContent[] {
  const roots = new Set([files.root])
  return paths.flatMap((path) => {
    const preflight = preflightPlugin(path, cwd)
    const { plugin_name: plugin, resolved_path: root } = preflight
    const manifest = preflight.valid && root !== null ? usedManifest(root) : null
    if (root === null || plugin === null || manifest === null) {
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
        message: `the plugin at ${path} is also called ${plugin}; Claude Code loads only one of them`,
        suggestion: 'Rename one of them, or leave it out.',
      })
    return [readPlugin(root, manifest, plugin, createNotes())]
  })
}
