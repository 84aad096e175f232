import { type PluginConfig, pluginConfigSchema } from '../config/keys/schema.ts'
import { type EvaluationFiles, readWhole } from './evaluation-files.ts'

/**
 * How a run is told, as it was configured. A run whose configuration cannot be read is told by the defaults; whether it can go
 * on is for others to say.
 */
export function storedConfig({ config: path }: Pick<EvaluationFiles, 'config'>): PluginConfig {
  const kept = readWhole(path)
  const parsed = pluginConfigSchema.safeParse(kept !== null && 'config' in kept ? kept.config : {})
  return parsed.success ? parsed.data : pluginConfigSchema.parse({})
}
