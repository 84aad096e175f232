import { agentComponent } from './agents/agent-component.ts'
import { discoverAgents } from './agents/discover-agents.ts'
import { commandComponent, type FoundCommand } from './commands/command-component.ts'
import { commandText, discoverCommands } from './commands/discover-commands.ts'
import { createNames } from './component-names.ts'
import type { AgentComponent } from './contract.ts'
import { openPluginFiles, type PluginFiles } from './files/plugin-files.ts'
import { readMarkdown } from './frontmatter/read-markdown.ts'
import { type Manifest, manifestFile } from './manifest/read-manifest.ts'
import type { Notes } from './notes.ts'
import { discoverSkills } from './skills/discover-skills.ts'
import { type FoundSkill, skillComponent } from './skills/skill-component.ts'

/** What a model chooses among, of one plugin. In Claude Code's order. */
export interface PluginParts {
  readonly plugin: string
  readonly files: PluginFiles
  readonly commands: readonly FoundCommand[]
  readonly skills: readonly FoundSkill[]
  readonly agents: readonly AgentComponent[]
}

/** `root` is absolute and resolved; what is wrong is written down on the way. */
export function readPlugin(root: string, manifest: Manifest, plugin: string, notes: Notes): PluginParts {
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
