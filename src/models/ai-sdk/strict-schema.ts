/**
 * Can OpenAI be held to this schema strictly? Only when every object is closed and every key of it is required; other
 * schemas are refused in strict mode, and are followed less strictly without it.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema)
  if (!isRecord(schema)) return true
  if (schema.type === 'object' || 'properties' in schema) {
    const keys = isRecord(schema.properties) ? Object.keys(schema.properties) : []
    const required = Array.isArray(schema.required) ? schema.required : []
    if (schema.additionalProperties !== false || keys.some((key) => !required.includes(key))) return false
  }
  // Names of keys are no keywords: a property may be called `properties`.
  return Object.entries(schema).every(([keyword, value]) =>
    (keyword === 'properties' || keyword === '$defs') && isRecord(value)
      ? Object.values(value).every(isStrictSchema)
      : isStrictSchema(value),
  )
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
