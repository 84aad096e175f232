import type { PluginOverrides } from '../../plugin/config/overrides.ts'
import type { PluginFlags } from './plugin-flags.ts'

/** What of the flags belongs to the configuration. */
export function pluginOverrides(plugin: string | undefined, flags: PluginFlags): PluginOverrides {
  const named = flags.plugin ?? plugin
  const { timeout, dryRun, estimate, output: _, config: __, ...rest } = flags
  return {
    ...rest,
    ...(named !== undefined && { plugin: named }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...((dryRun ?? aliased(flags, 'dr')) === true && { dryRun: true }),
    ...((estimate ?? aliased(flags, 'est')) === true && { estimate: true }),
  }
}

/** Short spellings that are not in the help. */
function aliased(flags: object, name: string): boolean | undefined {
  return Object.entries(flags).find(([flag]) => flag === name)?.[1] === true ? true : undefined
}
