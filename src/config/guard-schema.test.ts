import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { checkValues } from '../guard-engine/settings/check-values.ts'
import { settingTable } from '../guard-engine/settings/setting-table.ts'
import { guardSchema, harnessSchema } from './guard-schema.ts'

const jsonSchema = z.toJSONSchema(harnessSchema, { io: 'input', target: 'draft-2020-12' })
const validate = new Ajv2020({ strict: false }).compile(jsonSchema)

const samples: unknown[] = [
  {},
  { version: '1.0.0' },
  { version: '2.0.0' },
  { version: 1 },
  { middleware: {} },
  { middleware: null },
  { middleware: { loop_detection: { enabled: false } } },
  { middleware: { loop_detection: { enabled: 'false' } } },
  { middleware: { loop_detection: { edit_threshold: 0 } } },
  { middleware: { loop_detection: { edit_threshold: 2.5 } } },
  { middleware: { loop_detection: { edit_treshold: 2 } } },
  { middleware: { context_injection: { time_budget_seconds: 1.5, max_tree_depth: 33 } } },
  { middleware: { file_protection: { protected_patterns: [] } } },
  { middleware: { file_protection: { protected_patterns: [''] } } },
  { middleware: { pre_completion_checklist: { verification_commands: ['npm test'] } } },
  { state: { format: 'json', dir: '.harness' } },
  { state: { format: 'xml' } },
  { boundary: { enabled: true, package: '', root: '', also: [], refused: [], git: 'read' } },
  { boundary: { package: 'packages/one', root: '/a', also: ['/tmp'], refused: ['agent.yaml', 'a..b/c'] } },
  { boundary: { package: '/packages' } },
  { boundary: { package: 'a/../../b' } },
  { boundary: { package: '..' } },
  { boundary: { root: 'a' } },
  { boundary: { also: ['tmp'] } },
  { boundary: { refused: ['../x'] } },
  { boundary: { refused: ['/x'] } },
  { boundary: { refused: [''] } },
  { boundary: { git: 'write' } },
  { stat: {} },
]

test.each(samples)('the schema and the reader agree about %j', (sample) => {
  const fits = checkValues(sample).problems.length === 0
  expect(guardSchema.safeParse(sample).success).toBe(fits)
  expect(validate(sample)).toBe(fits)
})

test('the schema has every key of the table with its description and default', () => {
  for (const [path, { about, initial }] of Object.entries(settingTable)) {
    const found = path
      .split('.')
      .reduce<unknown>(
        (at, key) => (at as { properties: Record<string, unknown> }).properties[key],
        jsonSchema,
      )
    expect(found, path).toMatchObject({ default: initial, description: expect.stringContaining(about) })
  }
})

test('a file may name its schema', () => {
  expect(validate({ $schema: 'harness.schema.json' })).toBe(true)
})
