import { z } from 'zod'
import { type PluginConfig, pluginKeysSchema } from './plugin-keys.ts'

export type { PluginConfig } from './plugin-keys.ts'

/** The configuration of an evaluation, all sources joined; `plugin:` of gantry.yaml has the same keys. */
export const pluginConfigSchema = pluginKeysSchema.superRefine(refinePluginConfig)

/** What a file says of it: nothing filled in, `null` as if it were not there. The whole is checked once all sources are joined. */
export const pluginFileSchema = z.preprocess(withoutNulls, saidOnly(pluginKeysSchema))

/**
 * The same keys with the same types, but none of them required and none filled in: what a file says, and nothing of what
 * it leaves to others. Checks across keys are left to the whole schema, since another source may complete what a file begins.
 */
function saidOnly(schema: z.ZodObject): z.ZodObject {
  const shape = Object.entries(schema.shape).map(([key, value]) => [key, optionalKey(value)] as const)
  return z.strictObject(Object.fromEntries(shape))
}

/** `null` is how YAML says nothing: a key with it counts as absent. Lists are left as they are. */
function withoutNulls(value: unknown): unknown {
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const kept = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(
    kept.map(([key, item]) => [key, typeof item === 'object' ? withoutNulls(item) : item]),
  )
}

/** A schema without what fills it in, and what was said about it on the way. */
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

/** The default is only told: filled in, it could no longer be told from what the user wrote. */
function optionalKey(schema: z.core.$ZodType): z.ZodType {
  const { schema: inner, note } = bare(schema)
  const said = inner instanceof z.ZodObject ? saidOnly(inner) : inner
  return z.optional(said).meta(note)
}

/** What no single key can tell: keys that need each other, or that say nothing without one another. */
function refinePluginConfig(config: PluginConfig, context: z.core.$RefinementCtx): void {
  for (const { path, message, holds } of rules(config))
    if (!holds) context.addIssue({ code: 'custom', path: [...path], message })
}

interface Rule {
  readonly path: readonly string[]
  readonly holds: boolean
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
      holds: plugin === undefined || plugin.path !== undefined || marketplace !== undefined,
      message: 'names a plugin, but neither plugin.path nor marketplace.path says where it is',
    },
    {
      path: ['fast_mode', 'failed_run_id'],
      holds: !fast_mode.enabled || fast_mode.failed_run_id !== undefined,
      message: 'must name the run whose failures are repeated, since fast_mode.enabled is true',
    },
    {
      path: ['fast_mode', 'failed_run_id'],
      holds: fast_mode.enabled || fast_mode.failed_run_id === undefined,
      message: 'does nothing unless fast_mode.enabled is true',
    },
    {
      path: ['execution', 'arms'],
      holds:
        execution.arms?.includes('crowd') !== true ||
        execution.additional_plugins.length > 0 ||
        marketplace !== undefined,
      message: 'crowd needs other plugins: execution.additional_plugins or a marketplace',
    },
    {
      path: ['tuning', 'timeouts', 'retry_max_ms'],
      holds: tuning.timeouts.retry_initial_ms <= tuning.timeouts.retry_max_ms,
      message: 'is shorter than tuning.timeouts.retry_initial_ms',
    },
    {
      path: ['poll_interval_ms'],
      holds: config.poll_interval_ms <= config.batch_timeout_ms,
      message: 'is longer than batch_timeout_ms',
    },
    {
      path: ['output', 'sanitization'],
      holds: !hidesMore || sanitize_transcripts || sanitize_logs,
      message:
        'says what to hide, but neither output.sanitize_transcripts nor output.sanitize_logs says where; set one of them',
    },
  ]
}
