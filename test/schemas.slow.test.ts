import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { globSync } from 'tinyglobby'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { jsonSchemas } from '../scripts/json-schemas.ts'

const root = join(import.meta.dirname, '..')
const schemas = jsonSchemas()
const examples = globSync('examples/**/*.yaml', { cwd: root }).sort()

test('the committed schemas are those of the source', () => {
  for (const [file, text] of Object.entries(schemas)) {
    expect(readFileSync(join(root, file), 'utf8'), `${file}: run npm run generate`).toBe(text)
  }
})

const forPeople = [
  'gantry',
  'agent',
  'scenario',
  'rubric',
  'harness',
  'plugin',
  'plugin-hook-case',
  'plugin-scenarios',
].map((name) => `schemas/${name}.schema.json`)

test('every key of the files people write says what it does', () => {
  const silent = Object.entries(schemas)
    .filter(([file]) => forPeople.includes(file))
    .flatMap(([file, text]) => silentKeys(JSON.parse(text), basename(file)))
  expect(silent).toEqual([])
})

describe('an editor that follows the schema line of an example', () => {
  test('finds one in every example that is written by a person', () => {
    expect(examples.length).toBeGreaterThan(5)
    expect(examples.filter((file) => schemaOf(file) === null)).toEqual([])
  })

  test.each(examples)('has nothing to complain about in %s', (file) => {
    const validate = validatorOf(schemaOf(file) ?? '')
    expect(validate(parse(readFileSync(join(root, file), 'utf8'))), JSON.stringify(validate.errors)).toBe(
      true,
    )
  })

  test('complains about a misspelt key', () => {
    const validate = new Ajv2020({ strict: false }).compile(
      JSON.parse(schemas['schemas/scenario.schema.json'] ?? ''),
    )
    const scenario = parse(readFileSync(join(root, 'examples/jot/scenarios/capture.yaml'), 'utf8'))
    expect(validate({ ...scenario, tierr: 1 })).toBe(false)
  })
})

const validators = new Map<string, ValidateFunction>()

/** Compiling a schema takes far longer than following it, and many examples follow the same. */
function validatorOf(path: string): ValidateFunction {
  const validate =
    validators.get(path) ?? new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(path, 'utf8')))
  validators.set(path, validate)
  return validate
}

function schemaOf(file: string): string | null {
  const line = /^# yaml-language-server: \$schema=(\S+)/m.exec(readFileSync(join(root, file), 'utf8'))
  return line?.[1] === undefined ? null : resolve(root, dirname(file), line[1])
}

interface Schema {
  readonly properties?: Record<string, Schema>
  readonly description?: string
  readonly const?: unknown
  readonly [key: string]: unknown
}

/** Properties without a description, by path. A constant such as a discriminator explains itself. */
function silentKeys(schema: unknown, path: string): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item, index) => silentKeys(item, `${path}[${index}]`))
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, ...rest } = schema as Schema
  const own = Object.entries(properties).flatMap(([key, value]) => [
    ...(value.description === undefined && value.const === undefined ? [`${path}.${key}`] : []),
    ...silentKeys(value, `${path}.${key}`),
  ])
  return [...own, ...Object.values(rest).flatMap((value) => silentKeys(value, path))]
}
