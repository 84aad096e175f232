import type { z } from 'zod'
import type { PluginConfig } from './plugin-keys.ts'

/** What no single key can tell: keys that need each other, or that say nothing without one another. */
export function refinePluginConfig(config: PluginConfig, context: z.core.$RefinementCtx): void {
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
