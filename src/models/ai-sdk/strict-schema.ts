import { isObject } from '../../core/json-fields.ts'
/**
 * Can OpenAI be held to this schema strictly? Only when every object is closed and every key of it is required; other
 * schemas are refused in strict mode, and are followed less strictly without it.
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema)
  if (!isObject(schema)) return true
  if (schema.type === 'object' || 'properties' in schema) {
    const keys = isObject(schema.properties) ? Object.keys(schema.properties) : []
    const required = Array.isArray(schema.required) ? schema.required : []
    if (schema.additionalProperties !== false || keys.some((key) => !required.includes(key))) return false
  }
  // Names of keys are no keywords: a property may be called `properties`.
  return Object.entries(schema).every(([keyword, value]) =>
    (keyword === 'properties' || keyword === '$defs') && isObject(value)
      ? Object.values(value).every(isStrictSchema)
      : isStrictSchema(value),
  )
}
