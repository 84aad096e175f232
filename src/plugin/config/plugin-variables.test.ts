import { expect, test } from 'vitest'
import { z } from 'zod'
import { pluginConfigSchema } from './keys/schema.ts'
import { pluginVariables, readPluginVariables, unknownVariables } from './plugin-variables.ts'

test('every key with a single value has one variable, and no two share one', () => {
  const names = pluginVariables.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names.every((name) => /^GANTRY_PLUGIN_[A-Z][A-Z0-9_]*$/.test(name))).toBe(true)
  expect(names).toEqual(
    expect.arrayContaining([
      'GANTRY_PLUGIN_PATH',
      'GANTRY_PLUGIN_EXECUTION_MAX_BUDGET_USD',
      'GANTRY_PLUGIN_SCOPE_MCP_SERVERS',
      'GANTRY_PLUGIN_TUNING_TOKEN_ESTIMATES_PER_MCP_SERVER',
      'GANTRY_PLUGIN_EXECUTION_SANDBOX_NETWORK_HTTP_PROXY_PORT',
    ]),
  )
  expect(pluginVariables.map(({ path }) => path.join('.')).toSorted()).toEqual(scalarKeys().toSorted())
})

/** The keys according to the JSON Schema, which is generated separately. */
function scalarKeys(): string[] {
  const schema = z.toJSONSchema(pluginConfigSchema, { io: 'input' })
  const walk = (node: z.core.JSONSchema.BaseSchema, path: string): string[] => {
    const { type, properties } = node
    if (properties !== undefined)
      return Object.entries(properties).flatMap(([key, value]) =>
        typeof value === 'object' ? walk(value, path === '' ? key : `${path}.${key}`) : [],
      )
    return ['string', 'number', 'integer', 'boolean'].includes(String(type)) ? [path] : []
  }
  return walk(schema, '')
}

test('values are parsed by the type of their key; an empty one is ignored', () => {
  const said = readPluginVariables({
    GANTRY_PLUGIN_DRY_RUN: 'TRUE',
    GANTRY_PLUGIN_VERBOSE: '0',
    GANTRY_PLUGIN_GENERATION_DIVERSITY: ' 0.5 ',
    GANTRY_PLUGIN_OUTPUT_FORMAT: 'tap',
    GANTRY_PLUGIN_DEBUG: '  ',
    GANTRY_PLUGIN_NAME: 'p',
  })
  expect(Object.fromEntries(said.map(({ path, value }) => [path.join('.'), value]))).toEqual({
    dry_run: true,
    verbose: false,
    'generation.diversity': 0.5,
    'output.format': 'tap',
    'plugin.name': 'p',
  })
})

test('an invalid value is an error that names the variable, and all are reported at once', () => {
  const env = { GANTRY_PLUGIN_DRY_RUN: 'maybe', GANTRY_PLUGIN_EXECUTION_NUM_REPS: '1e3' }
  expect(() => readPluginVariables(env)).toThrow(
    /GANTRY_PLUGIN_EXECUTION_NUM_REPS: execution\.num_reps: expected a number, not '1e3'[\s\S]*GANTRY_PLUGIN_DRY_RUN: dry_run: expected true, false, 1 or 0, not 'maybe'/,
  )
})

test('a misspelt variable is reported, with the nearest one', () => {
  expect(
    unknownVariables({ GANTRY_PLUGIN_EXECUTION_NUM_REP: '1', GANTRY_PLUGIN_XYZZY_FOO_BAR_BAZ: '', PATH: '' }),
  ).toEqual([
    'GANTRY_PLUGIN_EXECUTION_NUM_REP is not a known variable; did you mean GANTRY_PLUGIN_EXECUTION_NUM_REPS?',
    'GANTRY_PLUGIN_XYZZY_FOO_BAR_BAZ is not a known variable',
  ])
})
