import { isObject } from '../../core/json-fields.ts'
import type { PluginConfig } from '../config/keys/schema.ts'

type Sandbox = NonNullable<PluginConfig['execution']['sandbox']>
type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The sandbox of the configuration as Claude Code's settings have it: the same keys in camelCase. */
export function sandboxSettings(sandbox: Sandbox): { readonly [key: string]: Json } {
  const { ignore_violations, ...rest } = sandbox
  return {
    ...camelKeys(rest),
    // Its keys are commands, not words of ours.
    ...(ignore_violations !== undefined && { ignoreViolations: ignore_violations }),
  }
}

function camelKeys(value: object): { readonly [key: string]: Json } {
  const known = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(
    known.map(([key, field]) => [camel(key), isObject(field) ? camelKeys(field) : field]),
  )
}

function camel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
