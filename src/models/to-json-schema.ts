import type { z } from 'zod'

/** What may be given for the schema, as JSON Schema without the line that names its dialect: some providers refuse that. */
export async function toJsonSchema(schema: z.ZodType): Promise<Readonly<Record<string, unknown>>> {
  const { z } = await import('zod')
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return shape
}
