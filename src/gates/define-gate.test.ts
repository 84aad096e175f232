import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { parseYaml } from '../io/yaml.ts'
import type { GateContext } from './contract.ts'
import { defineGate, type GateDefinition, readGateDefinition, readGateDefinitions } from './define-gate.ts'
import { gateNeeds, gateSchemaWith, runGate } from './index.ts'

const pass = { passed: true, message: 'fine' }
const context: GateContext = {
  workspace: '/nowhere',
  env: {},
  signal: new AbortController().signal,
  invocations: [],
  invocationSource: 'none',
  toolUses: [],
  delta: async () => ({ created: [], changed: [], deleted: [] }),
}

test('the check gets the configuration with the type that the schema describes', async () => {
  const gate = defineGate({
    type: 'max_words',
    schema: z.strictObject({ limit: z.number().default(3) }),
    check: ({ limit }) => {
      expectTypeOf(limit).toEqualTypeOf<number>()
      return { passed: limit === 3, message: `at most ${limit} words`, detail: { limit } }
    },
  })
  expect(await run(gate, { type: 'max_words' })).toEqual({
    result: { type: 'max_words', passed: true, message: 'at most 3 words', detail: { limit: 3 } },
    broken: null,
  })
  defineGate({
    type: 'a',
    schema: (value) => ({ size: Number(value) }),
    check: ({ size }) => {
      expectTypeOf(size).toEqualTypeOf<number>()
      return pass
    },
  })
})

test('the description of an entry precedes the message', async () => {
  const gate = defineGate({ type: 'mine', check: () => pass })
  const { result } = await run(gate, { type: 'mine', description: 'no leftovers' })
  expect(result.message).toBe('no leftovers: fine')
})

const strict = z.strictObject({ path: z.string(), limits: z.array(z.number()).default([]) })

test.each<[string, GateDefinition['schema'], string]>([
  ['a zod schema', strict, '2:20: [0].limits[1]: expected a number, received a string'],
  [
    'a function that throws',
    () => {
      throw new Error('the path is empty')
    },
    '1:3: [0]: the path is empty',
  ],
  [
    'a function that calls zod',
    (value) => strict.parse(value),
    '2:20: [0].limits[1]: expected a number, received a string',
  ],
  [
    'a schema of another library',
    { '~standard': { validate: () => ({ issues: [{ message: 'too long', path: [{ key: 'path' }] }] }) } },
    '1:29: [0].path: too long',
  ],
  [
    'an asynchronous function',
    () => Promise.reject(new Error('unused')),
    '1:3: [0]: the schema of the gate is asynchronous',
  ],
  [
    'an asynchronous schema',
    { '~standard': { validate: async () => ({ value: {} }) } },
    '1:3: [0]: the schema of the gate is asynchronous',
  ],
])('a wrong configuration by %s is reported at its position in the file', (_, schema, message) => {
  const text = '- { type: mine,       path: a,\n    limits: [ 1,   x ] }\n'
  const gate = defineGate({ type: 'mine', check: () => pass, ...(schema !== undefined && { schema }) })
  expect(() => read(gate, text)).toThrow(`gates.yaml:${message}`)
})

test.each<[string, GateDefinition['schema']]>([
  ['no schema', undefined],
  ['a strict schema', z.strictObject({ path: z.string().optional() })],
  ['a schema that drops unknown keys', z.object({ path: z.string().optional() })],
])('an unknown key is an error with %s', (_, schema) => {
  const gate = defineGate({ type: 'mine', check: () => pass, ...(schema !== undefined && { schema }) })
  expect(() => read(gate, '- type: mine\n  pth: a\n')).toThrow("gates.yaml:2:3: unknown key 'pth'")
})

test('a key that is missing or misspelt is named like one of a built-in gate', () => {
  const gate = defineGate({ type: 'mine', schema: z.strictObject({ path: z.string() }), check: () => pass })
  expect(() => read(gate, '- type: mine\n  pth: a\n')).toThrow(
    /gates.yaml:1:3: missing key 'path' in \[0\], expected a string\n {2}gates.yaml:2:3: unknown key 'pth', did you mean 'path'\?/,
  )
})

test('a misspelt type is compared with own types too', () => {
  const gate = defineGate({ type: 'no_todo', check: () => pass })
  expect(() => read(gate, '- type: no_todos\n')).toThrow("did you mean 'no_todo'?")
})

test('a loose schema may keep keys it does not list', async () => {
  const gate = defineGate({ type: 'mine', schema: z.looseObject({}), check: () => pass })
  expect(read(gate, '- { type: mine, anything: 1 }\n')).toEqual([{ type: 'mine', anything: 1 }])
})

const cycle: Record<string, unknown> = {}
cycle.self = cycle

test.each<[string, GateDefinition['check'], RegExp]>([
  [
    'throws',
    () => {
      throw new TypeError('x is not a function')
    },
    /^the gate mine threw TypeError: x is not a function$/,
  ],
  ['rejects', () => Promise.reject(new Error('late')), /^the gate mine threw Error: late$/],
  ['hangs', () => new Promise(() => {}), /^the gate mine did not finish within 20ms$/],
  ['returns true', () => true as never, /did not return \{ passed: boolean, message: string \}$/],
  [
    'returns a BigInt',
    () => ({ ...pass, detail: { size: 1n } }),
    /^the gate mine returned a 'detail' .*BigInt/,
  ],
  ['returns a cycle', () => ({ ...pass, detail: cycle }), /^the gate mine returned a 'detail' .*circular/],
  [
    'throws an object without a text',
    () => Promise.reject(Object.create(null)),
    /^the gate mine threw \[Object/,
  ],
])('a check that %s is an error of the gate, not of the agent', async (how, check, broken) => {
  const timeoutMs = how === 'hangs' ? 20 : 60_000
  const checked = await run(defineGate({ type: 'mine', timeoutMs, check }), { type: 'mine' })
  expect(checked.broken).toMatch(broken)
  expect(checked.result).toMatchObject({ type: 'mine', passed: false })
})

test('an interruption during the check is not a result', async () => {
  const stop = new AbortController()
  const gate = defineGate({ type: 'mine', check: () => new Promise(() => {}) })
  const running = run(gate, { type: 'mine' }, { ...context, signal: stop.signal })
  stop.abort()
  await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('the needs of a gate are found by its type', () => {
  const definition = defineGate({ type: 'mine', needs: ['workspace_delta'], check: () => pass })
  expect(gateNeeds('mine', [{ definition, fingerprint: null }])).toEqual(['workspace_delta'])
  expect(gateNeeds('mine')).toEqual([])
})

test('a definition without types is checked', () => {
  const gate = { type: 'mine', check: () => pass }
  expect(readGateDefinition(gate)).toBe(gate)
  expect(readGateDefinitions([gate, gate])).toEqual([gate, gate])
  expect(readGateDefinitions([gate, {}])).toBe("it has no 'type'")
  expect(readGateDefinition({ ...gate, type: 'a b' })).toBe("its 'type' has the wrong type")
  expect(readGateDefinition({ ...gate, needs: ['all'] })).toBe("its 'needs' has the wrong type")
  expect(readGateDefinition({ ...gate, schema: {} })).toBe("its 'schema' has the wrong type")
})

function run(
  definition: GateDefinition,
  spec: { readonly type: string; readonly description?: string },
  place = context,
) {
  return runGate(spec, place, [{ definition, fingerprint: null }])
}

function read(definition: GateDefinition, text: string): unknown {
  return parseYaml(text, 'gates.yaml', z.array(gateSchemaWith([{ definition, fingerprint: null }]))).value
}
