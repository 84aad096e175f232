import { agentComponent } from './agents/agent-component.ts'
import { discoverAgents } from './agents/discover-agents.ts'
import { commandComponent, type FoundCommand } from './commands/command-component.ts'
import { commandText, discoverCommands } from './commands/discover-commands.ts'
import { createNames } from './component-names.ts'
import type { AgentComponent } from './contract.ts'
import { openPluginFiles, type PluginFiles } from './files/plugin-files.ts'
import { readMarkdown } from './frontmatter/read-markdown.ts'
import { manifestFile, type PluginManifest, readManifest } from './manifest/read-manifest.ts'
import { createNotes, type Notes } from './notes.ts'
import { preflightPlugin } from './preflight-plugin.ts'
import { discoverSkills } from './skills/discover-skills.ts'
import { type FoundSkill, skillComponent } from './skills/skill-component.ts'

/** What a model chooses among, of one plugin. In Claude Code's order. */
export interface PluginContent {
  readonly plugin: string
  readonly files: PluginFiles
  readonly commands: readonly FoundCommand[]
  readonly skills: readonly FoundSkill[]
  readonly agents: readonly AgentComponent[]
}

/** `root` is absolute and resolved; what is wrong is written down on the way. */
export function readPlugin(
  root: string,
  manifest: PluginManifest,
  plugin: string,
  notes: Notes,
): PluginContent {
  const files = openPluginFiles(root, notes)
  files.read(manifestFile)
  const named = { command: createNames(), skill: createNames(), agent: createNames() }
  const commands = discoverCommands(files, manifest, notes).flatMap((source) => {
    const file = commandText(source, files)
    return file === null ? [] : [commandComponent(source, readMarkdown(file), plugin, named.command, notes)]
  })
  const skills = discoverSkills(files, manifest, notes).flatMap((source) => {
    const file = files.read(source.path)
    return file === null ? [] : [skillComponent(source, readMarkdown(file), plugin, named.skill, notes)]
  })
  const agents = discoverAgents(files, manifest, notes).flatMap((source) => {
    const file = files.read(source.path)
    return file === null ? [] : [agentComponent(source, readMarkdown(file), plugin, named.agent, notes)]
  })
  return { plugin, files, commands, skills, agents }
}

/** The components of the other plugins. Their own findings are dropped; only an unreadable plugin or one with our name is reported. */
export function readCrowd(
  paths: readonly string[],
  cwd: string,
  ownRoot: string,
  ownName: string,
  notes: Notes,
): readonly PluginContent[] {
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
