import { asObject, asString } from '../../core/json-fields.ts'

/** One entry of `plugin_errors` of the `init` line in words, with the plugin it is about. */
export function pluginErrorWords(error: unknown): string {
  const about = asObject(error)
  const words = asString(about?.message) ?? (typeof error === 'string' ? error : JSON.stringify(error))
  const plugin = asString(about?.path) ?? asString(about?.plugin)
  return plugin === undefined ? words : `${plugin}: ${words}`
}
