import { z } from 'zod'
import { type PluginConfig, pluginKeysSchema } from './plugin-keys.ts'

export type { PluginConfig } from './plugin-keys.ts'

/** The whole configuration of an evaluation, with all sources merged. `plugin:` of gantry.yaml has the same keys. */
export const pluginConfigSchema = pluginKeysSchema.superRefine(refinePluginConfig)

/** The configuration as one file may contain it: no defaults, and `null` counts as absent. Rules across keys are checked after merging. */
export const pluginFileSchema = z.preprocess(withoutNulls, withoutDefaults(pluginKeysSchema))

/**
 * The same keys and types, but all optional and without defaults. Rules across keys are left to the whole schema, since another
 * source may complete what a file begins.
 */
function withoutDefaults(schema: z.ZodObject): z.ZodObject {
  const shape = Object.entries(schema.shape).map(([key, value]) => [key, optionalKey(value)] as const)
  return z.strictObject(Object.fromEntries(shape))
}

/**
 * An empty value in YAML is `null`: such a key counts as absent, and so does a mapping of which nothing is left. Lists are not changed.
 */
function withoutNulls(value: unknown): unknown {
  if (value === null) return {}
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const inner = isObject(item) && Object.keys(item).length > 0 ? withoutNulls(item) : item
    const isAbsent = inner === null || (isObject(inner) && inner !== item && Object.keys(inner).length === 0)
    return isAbsent || (key === 'marketplace' && isSwitchedOff(inner)) ? [] : [[key, inner]]
  })
  return Object.fromEntries(kept)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** cc-plugin-eval switches its marketplace off with `path: null` and `evaluate_all: false`. */
function isSwitchedOff(marketplace: unknown): boolean {
  return isObject(marketplace) && marketplace.path === undefined && marketplace.evaluate_all === false
}

/** A schema without its defaults, and the metadata of the wrappers that were removed. */
export function bare(schema: z.core.$ZodType): {
  readonly schema: z.core.$ZodType
  readonly note: Readonly<Record<string, unknown>>
} {
  const own = z.globalRegistry.get(schema) ?? {}
  if (schema instanceof z.ZodDefault) {
    const inner = bare(schema.def.innerType)
    return { ...inner, note: { ...inner.note, default: schema.def.defaultValue, ...own } }
  }
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    const inner = bare(schema.def.innerType)
    return { ...inner, note: { ...inner.note, ...own } }
  }
  return { schema, note: own }
}

/** The default is kept as metadata only: once filled in, it could not be distinguished from a value of the user. */
function optionalKey(schema: z.core.$ZodType): z.ZodType {
  const { schema: inner, note } = bare(schema)
  const optional = inner instanceof z.ZodObject ? withoutDefaults(inner) : inner
  return z.optional(optional).meta(note)
}

function refinePluginConfig(config: PluginConfig, context: z.core.$RefinementCtx): void {
  for (const [key, message] of contradictions(config))
    context.addIssue({ code: 'custom', path: key.split('.'), message })
}

/** Keys that need each other, or have no effect without each other. */
function* contradictions(config: PluginConfig): Generator<readonly [key: string, message: string]> {
  const { plugin, marketplace, execution, output, fast_mode: fast, tuning } = config
  if (plugin !== undefined && plugin.path === undefined && marketplace === undefined)
    yield ['plugin.name', 'is set, but neither plugin.path nor marketplace.path is']
  if (fast.enabled && fast.failed_run_id === undefined)
    yield ['fast_mode.failed_run_id', 'is required when fast_mode.enabled is true']
  if (!fast.enabled && fast.failed_run_id !== undefined)
    yield ['fast_mode.failed_run_id', 'has no effect unless fast_mode.enabled is true']
  const hasCrowd = execution.additional_plugins.length > 0 || marketplace !== undefined
  if (execution.arms?.includes('crowd') === true && !hasCrowd)
    yield ['execution.arms', 'crowd needs other plugins: execution.additional_plugins or a marketplace']
  if (tuning.timeouts.retry_initial_ms > tuning.timeouts.retry_max_ms)
    yield ['tuning.timeouts.retry_max_ms', 'is shorter than tuning.timeouts.retry_initial_ms']
  if (config.poll_interval_ms > config.batch_timeout_ms)
    yield ['poll_interval_ms', 'is longer than batch_timeout_ms']
  const hidesMore = output.sanitization.enabled || output.sanitization.custom_patterns.length > 0
  if (hidesMore && !output.sanitize_transcripts && !output.sanitize_logs)
    yield ['output.sanitization', 'has no effect: set output.sanitize_transcripts or output.sanitize_logs']
}
