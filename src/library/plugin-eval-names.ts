import { dirname, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { Analysis } from '../plugin/analyze/contract.ts'
import type { PluginConfig } from '../plugin/config/keys/schema.ts'
import type { PluginOverrides } from '../plugin/config/overrides.ts'

// The functions of cc-plugin-eval with the arguments that they have there.

/** The settings of a file, overridden. Paths in it are relative to the file. */
export async function loadConfigWithOverrides(
  file: string,
  overrides: PluginOverrides = {},
): Promise<PluginConfig> {
  const { loadConfigWithOverrides: load } = await import('../plugin/config/load-config.ts')
  return load({ file, flags: overrides, env: process.env, cwd: process.cwd() }).config
}

/** Stage 1 for `plugin.path` of the settings. Also takes a promise of them, because they were not one there. */
export async function runAnalysis(config: PluginConfig | Promise<PluginConfig>): Promise<Analysis> {
  const { analysed } = await import('../plugin/pipeline/run-analysis.ts')
  const { plugin } = await config
  if (plugin?.path === undefined)
    throw new GantryError('USAGE', 'runAnalysis: the settings have no plugin.path', {
      hint: "Pass it to loadConfigWithOverrides: loadConfigWithOverrides('config.yaml', { plugin: './my-plugin' }).",
    })
  const path = resolve(plugin.path)
  return analysed({ path, cwd: dirname(path), crowd: [] })
}

/** The other stages work on a stored run, so that nothing is paid for twice. */
export function stageOfRun(name: string, stage: string): GantryError {
  return new GantryError('USAGE', `${name} of cc-plugin-eval is not a function of its own here`, {
    hint: `Use evaluatePlugin({ cwd, overrides: { plugin }, until: '${stage}' }): it runs the stages up to ${stage}, stores what was paid for, and continues with resume.`,
  })
}
