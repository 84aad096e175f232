import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { DeclaredCommand } from '../contract.ts'
import { planSource, settingsSource } from './declaring-files.ts'
import type { ProjectFiles } from './project-files.ts'
import { readAgentsMd } from './read-agents-md.ts'
import { toolchains } from './toolchains.ts'

/** What people wrote down, in the order in which it counts. */
interface Declarations {
  /** Of the settings. */
  readonly settings: readonly string[]
  /** Of the plan's section Verification. */
  readonly plan: readonly string[]
}

const instructions = ['AGENTS.md', 'CLAUDE.md']

/**
 * The commands that verify a project: first those somebody declared, then those its toolchains suggest. Each once, at the
 * place of the first that names it: the order is the priority and is kept.
 */
export function discoverCommands(files: ProjectFiles, declared: Declarations): readonly DeclaredCommand[] {
  const found = new Map<string, DeclaredCommand>()
  const add = (commands: readonly string[], source: string, explicit: boolean): void => {
    for (const text of commands) {
      const command = text.trim()
      const key = command.replaceAll(/\s+/g, ' ')
      if (key !== '' && !found.has(key))
        found.set(key, { command, kind: kindOfCommand(command), source, explicit })
    }
  }
  add(declared.settings, settingsSource, true)
  add(declared.plan, planSource, true)
  for (const name of instructions) add(readAgentsMd(files.read(name) ?? ''), name, true)
  for (const toolchain of toolchains) {
    const source = toolchain.source(files)
    if (source !== null) add(toolchain.commands(files), source, false)
  }
  return [...found.values()]
}
