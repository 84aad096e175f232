import { componentId } from '../../component-list.ts'
import type { PluginParts } from '../read-plugin.ts'
import type { Rival } from './note-overlaps.ts'

interface Described {
  readonly name: string
  readonly cli_name: string
  readonly description: string
  readonly path: string
  readonly line?: number
}

/** The components of a plugin that a model may take one for another: what it is told about, and nothing it cannot choose. */
export function rivalsOf({ skills, commands, agents }: PluginParts, isOwn: boolean): readonly Rival[] {
  const rival = (
    type: 'command' | 'skill' | 'agent',
    { name, cli_name, description, path, line }: Described,
    phrases: readonly string[],
  ): Rival => ({
    id: componentId(type, isOwn ? name : cli_name),
    description,
    phrases,
    isOwn,
    path,
    ...(line !== undefined && { line }),
  })
  return [
    ...skills
      .filter(({ listed }) => listed !== null)
      .map(({ component }) => rival('skill', component, component.triggers)),
    ...commands
      .filter(({ listed }) => listed !== null)
      .map(({ component }) => rival('command', component, [])),
    ...agents.map((agent) =>
      rival(
        'agent',
        agent,
        agent.examples.map(({ user_message: said }) => said),
      ),
    ),
  ]
}
