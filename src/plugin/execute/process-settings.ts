import type { Arm } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { ExecuteContext } from './request.ts'

/** What a process is started with and keeps until its end. Scenarios that want the same can share one. */
export interface ProcessSettings {
  /** Directories of plugins, absolute, in the order in which they are loaded. */
  readonly plugins: readonly string[]
  readonly model: string
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
  readonly addDirs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly appendSystemPrompt: string | null
}

/** Without these no component could be seen to fire. `Task` is what older versions call `Agent`. */
const alwaysAllowed = ['Skill', 'SlashCommand', 'Task', 'Agent', 'Read', 'Glob', 'Grep']

/** `scenario` null: only to see what is loaded. */
export function processSettings(
  { config, plugin, crowd }: Pick<ExecuteContext, 'config' | 'plugin' | 'crowd'>,
  arm: Arm,
  scenario: PluginScenario | null,
): ProcessSettings {
  const { execution } = config
  const facts = scenario?.case
  const needed = new Set(scenario?.needs_tools)
  const own = arm === 'without' ? [] : [plugin.plugin_path]
  const others = [...(facts?.plugins ?? []), ...(arm === 'crowd' ? crowd : [])]
  return {
    plugins: [...own, ...unique(others.filter((path) => path !== plugin.plugin_path)).toSorted()],
    model: execution.model === 'default' ? (facts?.model ?? 'default') : execution.model,
    allowedTools: unique([
      ...execution.allowed_tools,
      ...(facts?.allowed_tools ?? []),
      ...needed,
      ...alwaysAllowed,
    ]),
    disallowedTools: unique([
      ...execution.disallowed_tools.filter((tool) => !needed.has(tool)),
      ...(facts?.disallowed_tools ?? []),
    ]),
    addDirs: unique([...execution.additional_directories, ...(facts?.add_dirs ?? [])]),
    env: { ...execution.env, ...facts?.env },
    appendSystemPrompt: facts?.append_system_prompt ?? null,
  }
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)]
}
