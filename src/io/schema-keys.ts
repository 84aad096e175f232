import { z } from 'zod'

/**
 * The keys a schema knows for the mapping at `path` of `value`. Looks through everything that wraps a mapping; of a
 * discriminated union only the member that the value names counts.
 */
export function schemaKeys(schema: z.core.$ZodType, path: readonly PropertyKey[], value: unknown): string[] {
  let here: readonly z.core.$ZodType[] = unwrap(schema, value)
  let inner = value
  for (const segment of path) {
    inner = childOf(inner, segment)
    here = here.flatMap((holder) => below(holder, segment)).flatMap((found) => unwrap(found, inner))
  }
  const keys = here.flatMap((found) =>
    found instanceof z.core.$ZodObject ? Object.keys(found._zod.def.shape) : [],
  )
  return [...new Set(keys)]
}

export function childOf(value: unknown, segment: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, segment) ? Reflect.get(value, segment) : undefined
}

/** Schemas that can stand behind this one, without wrappers. */
function unwrap(
  schema: z.core.$ZodType,
  value: unknown,
  seen: ReadonlySet<z.core.$ZodType> = new Set(),
): z.core.$ZodType[] {
  if (seen.has(schema)) return []
  const through = (inner: z.core.$ZodType): z.core.$ZodType[] =>
    unwrap(inner, value, new Set([...seen, schema]))
  if (schema instanceof z.core.$ZodOptional) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodNullable) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodDefault) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodPrefault) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodNonOptional) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodReadonly) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodCatch) return through(schema._zod.def.innerType)
  if (schema instanceof z.core.$ZodLazy) return through(schema._zod.def.getter())
  // Behind a preprocessing step the checked schema is the second half of the pipe.
  if (schema instanceof z.core.$ZodPipe) return [schema._zod.def.in, schema._zod.def.out].flatMap(through)
  if (schema instanceof z.core.$ZodIntersection)
    return [schema._zod.def.left, schema._zod.def.right].flatMap(through)
  if (schema instanceof z.core.$ZodUnion) return named(schema, value).flatMap(through)
  return [schema]
}

/** Of a discriminated union the member the value names, of any other union all members. */
function named(union: z.core.$ZodUnion, value: unknown): readonly z.core.$ZodType[] {
  const { options } = union._zod.def
  if (!(union instanceof z.core.$ZodDiscriminatedUnion)) return options
  const { discriminator } = union._zod.def
  const name = childOf(value, discriminator)
  const member = options.filter((option) =>
    [...(option._zod.propValues?.[discriminator] ?? [])].some((allowed) => allowed === name),
  )
  return member.length > 0 ? member : options
}

function below(holder: z.core.$ZodType, segment: PropertyKey): z.core.$ZodType[] {
  if (holder instanceof z.core.$ZodObject) {
    const { shape, catchall } = holder._zod.def
    const child = Object.hasOwn(shape, segment) ? shape[String(segment)] : catchall
    return child === undefined ? [] : [child]
  }
  if (holder instanceof z.core.$ZodArray) return [holder._zod.def.element]
  if (holder instanceof z.core.$ZodRecord) return [holder._zod.def.valueType]
  if (holder instanceof z.core.$ZodTuple) {
    const child = holder._zod.def.items[Number(segment)] ?? holder._zod.def.rest
    return child === null ? [] : [child]
  }
  return []
}
