import { z } from 'zod'
import { pluginKeysSchema } from './plugin-keys.ts'
import { refinePluginConfig } from './plugin-refinements.ts'
import { saidOnly, withoutNulls } from './said-only.ts'

export type { PluginConfig } from './plugin-keys.ts'

/** The configuration of an evaluation, all sources joined; `plugin:` of gantry.yaml has the same keys. */
export const pluginConfigSchema = pluginKeysSchema.superRefine(refinePluginConfig)

/** What a file says of it: nothing filled in, `null` as if it were not there. The whole is checked once all sources are joined. */
export const pluginFileSchema = z.preprocess(withoutNulls, saidOnly(pluginKeysSchema))
