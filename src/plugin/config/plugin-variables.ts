import { z } from 'zod'
import { nearest } from '../../core/nearest.ts'
import { bare, pluginConfigSchema } from './keys/schema.ts'
import type { ConfigEntry } from './layers.ts'
import { type ConfigProblem, configProblem } from './read-config-file.ts'

/** A variable of the environment that sets one key. */
export interface PluginVariable {
  readonly name: string
  readonly path: readonly string[]
  readonly kind: 'flag' | 'number' | 'text' | 'choice'
}

const prefix = 'GANTRY_PLUGIN_'

/** One for every key with a single value: `execution.num_reps` is GANTRY_PLUGIN_EXECUTION_NUM_REPS, `plugin.path` GANTRY_PLUGIN_PATH. */
export const pluginVariables: readonly PluginVariable[] = variablesOf(pluginConfigSchema, [])

/** The values set by the environment; an empty variable is ignored. Throws GantryError USAGE for invalid values. */
export function readPluginVariables(
  env: Readonly<Record<string, string | undefined>>,
): readonly ConfigEntry[] {
  const problems: ConfigProblem[] = []
  const entries = pluginVariables.flatMap((variable): ConfigEntry[] => {
    const text = env[variable.name]?.trim()
    if (text === undefined || text === '') return []
    const value = valueIn(variable, text)
    if (value === undefined) {
      problems.push({
        at: { file: variable.name },
        text: `${variable.path.join('.')}: ${misfit(variable, text)}`,
      })
      return []
    }
    return [{ path: variable.path, value, by: { kind: 'environment', variable: variable.name } }]
  })
  if (problems.length > 0) throw configProblem(problems, 'input')
  return entries
}

/** Variables with our prefix that are unknown: most likely misspelt. */
export function unknownVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = pluginVariables.map(({ name }) => name)
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name))
    .toSorted()
    .map((name) => {
      const near = nearest(name, known)
      return `${name} is not a known variable${near === undefined ? '' : `; did you mean ${near}?`}`
    })
}

function variablesOf(schema: z.core.$ZodType, path: readonly string[]): readonly PluginVariable[] {
  const inner = bare(schema).schema
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape).flatMap(([key, value]) => variablesOf(value, [...path, key]))
  const kind = kindOf(inner)
  return kind === null ? [] : [{ name: variableName(path), path, kind }]
}

function kindOf(schema: z.core.$ZodType): PluginVariable['kind'] | null {
  if (schema instanceof z.ZodBoolean) return 'flag'
  if (schema instanceof z.ZodNumber) return 'number'
  if (schema instanceof z.ZodString) return 'text'
  return schema instanceof z.ZodEnum ? 'choice' : null
}

function variableName(path: readonly string[]): string {
  const words = path[0] === 'plugin' ? path.slice(1) : path
  return prefix + words.join('_').toUpperCase()
}

const flags = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** undefined when the text is not a value of the kind. The schema checks the range. */
function valueIn({ kind }: PluginVariable, text: string): unknown {
  switch (kind) {
    case 'flag':
      return flags.get(text.toLowerCase())
    case 'number':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
    case 'text':
    case 'choice':
      return text
  }
}

function misfit({ kind }: PluginVariable, text: string): string {
  const wanted = kind === 'flag' ? 'true, false, 1 or 0' : 'a number'
  return `expected ${wanted}, not '${text.slice(0, 60)}'`
}
