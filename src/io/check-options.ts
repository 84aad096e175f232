import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { isObject } from '../core/json-fields.ts'
import { schemaProblems } from './schema-problems.ts'

/** Fields that many functions of the library take. */
export const optionFields = {
  cwd: z.string().optional(),
  // Any object of texts: `process.env` is not a plain one.
  env: z.preprocess(asPlainObject, z.record(z.string(), z.string().optional())).optional(),
  signal: z.instanceof(AbortSignal, { error: 'expected an AbortSignal' }).optional(),
}

function asPlainObject(value: unknown): unknown {
  return isObject(value) ? { ...value } : value
}

/** Names of what is known, or what the caller made of the same kind. */
export function namedOrOwn<Own>() {
  return z.array(z.custom<string | Own>(isNameOrObject, 'expected a name or an object')).readonly()
}

function isNameOrObject(value: unknown): boolean {
  return typeof value === 'string' || isObject(value)
}

/** A function of the caller. */
export function callback<Called>() {
  return z.custom<Called>((value) => typeof value === 'function', 'expected a function').optional()
}

/** What a caller of the library passed to `name`, checked and with its defaults. Throws GantryError USAGE with the nearest right key. */
export function checkOptions<S extends z.ZodType>(name: string, schema: S, value: unknown): z.output<S> {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const at = { file: name }
  const source = { kind: 'parsed', text: '', value, positionOf: () => at, keyPositionOf: () => at } as const
  const problems = schemaProblems(schema, source, read.error.issues).map(({ text }) => text)
  throw new GantryError('USAGE', `${name}: ${problems.join('; ')}`, {
    hint: 'See docs/library.md.',
    cause: read.error,
  })
}
