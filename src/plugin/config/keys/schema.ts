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

/** An empty value in YAML is `null`: such a key counts as absent. Lists are not changed. */
function withoutNulls(value: unknown): unknown {
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const kept = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(
    kept.map(([key, item]) => [key, typeof item === 'object' ? withoutNulls(item) : item]),
  )
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

/** Rules across keys: keys that need each other, or have no effect without each other. */
function refinePluginConfig(config: PluginConfig, context: z.core.$RefinementCtx): void {
  for (const { path, message, isMet } of rules(config))
    if (!isMet) context.addIssue({ code: 'custom', path: [...path], message })
}

interface Rule {
  readonly path: readonly string[]
  readonly isMet: boolean
  readonly message: string
}

function rules({
  plugin,
  marketplace,
  execution,
  output,
  fast_mode,
  tuning,
  ...config
}: PluginConfig): Rule[] {
  const { sanitization, sanitize_transcripts, sanitize_logs } = output
  const hidesMore = sanitization.enabled || sanitization.custom_patterns.length > 0
  return [
    {
      path: ['plugin', 'name'],
      isMet: plugin === undefined || plugin.path !== undefined || marketplace !== undefined,
      message: 'is set, but neither plugin.path nor marketplace.path is',
    },
    {
      path: ['fast_mode', 'failed_run_id'],
      isMet: !fast_mode.enabled || fast_mode.failed_run_id !== undefined,
      message: 'is required when fast_mode.enabled is true',
    },
    {
      path: ['fast_mode', 'failed_run_id'],
      isMet: fast_mode.enabled || fast_mode.failed_run_id === undefined,
      message: 'has no effect unless fast_mode.enabled is true',
    },
    {
      path: ['execution', 'arms'],
      isMet:
        execution.arms?.includes('crowd') !== true ||
        execution.additional_plugins.length > 0 ||
        marketplace !== undefined,
      message: 'crowd needs other plugins: execution.additional_plugins or a marketplace',
    },
    {
      path: ['tuning', 'timeouts', 'retry_max_ms'],
      isMet: tuning.timeouts.retry_initial_ms <= tuning.timeouts.retry_max_ms,
      message: 'is shorter than tuning.timeouts.retry_initial_ms',
    },
    {
      path: ['poll_interval_ms'],
      isMet: config.poll_interval_ms <= config.batch_timeout_ms,
      message: 'is longer than batch_timeout_ms',
    },
    {
      path: ['output', 'sanitization'],
      isMet: !hidesMore || sanitize_transcripts || sanitize_logs,
      message: 'has no effect: set output.sanitize_transcripts or output.sanitize_logs',
    },
  ]
}
