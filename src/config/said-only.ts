import { z } from 'zod'

/**
 * The same keys with the same types, but none of them required and none filled in: what a file says, and nothing of what
 * it leaves to others. Checks across keys are left to the whole schema, since another source may complete what a file begins.
 */
export function saidOnly(schema: z.ZodObject): z.ZodObject {
  const shape = Object.entries(schema.shape).map(([key, value]) => [key, optionalKey(value)] as const)
  return z.strictObject(Object.fromEntries(shape))
}

/** `null` is how YAML says nothing: a key with it counts as absent. Lists are left as they are. */
export function withoutNulls(value: unknown): unknown {
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
