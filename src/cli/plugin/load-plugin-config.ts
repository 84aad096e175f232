import { loadProject } from '../../config/load.ts'
import { defined } from '../../core/json-fields.ts'
import { loadConfigWithOverrides } from '../../plugin/config/load-config.ts'
import type { PluginOverrides } from '../../plugin/config/overrides.ts'
import type { CliContext } from '../context.ts'
import type { PluginFlags } from './plugin-flags.ts'

/** The settings of an evaluation: the configuration file, overridden by the flags. */
export function loadPluginConfig(plugin: string | undefined, flags: PluginFlags, { cwd, env }: CliContext) {
  const project = loadProject(cwd)
  const { config, warnings } = loadConfigWithOverrides(
    defined({ project, env, flags: pluginOverrides(plugin, flags), cwd, file: flags.config }),
  )
  return { config, warnings, project }
}

function pluginOverrides(plugin: string | undefined, flags: PluginFlags): PluginOverrides {
  const named = flags.plugin ?? plugin
  const { timeout, dryRun, plan, estimate, output: _, config: __, ...rest } = flags
  return {
    ...rest,
    ...defined({ plugin: named, timeoutMs: timeout }),
    ...((dryRun ?? plan ?? aliased(flags, 'dr')) === true && { dryRun: true }),
    ...((estimate ?? aliased(flags, 'est')) === true && { estimate: true }),
  }
}

/** Short spellings, hidden in the help. */
function aliased(flags: object, name: string): boolean | undefined {
  return Object.entries(flags).find(([flag]) => flag === name)?.[1] === true ? true : undefined
}
