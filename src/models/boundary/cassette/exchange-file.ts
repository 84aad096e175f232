import { z } from 'zod'

/** Changes when an older Gantry could not read what a newer one writes, or the other way round. */
export const formatVersion = 1

/** Only this much is sure about an index of any version. */
export const anyIndexSchema = z.looseObject({ format: z.number(), gantry: z.string().optional() })

export const indexSchema = z.strictObject({
  format: z.literal(formatVersion),
  gantry: z.string().describe('The version of Gantry that recorded it.'),
  recorded_at: z.iso.datetime().describe('When the recording began.'),
  facts: z.record(z.string(), z.unknown()).describe('What was recorded: agent, model and the like.'),
  exchanges: z.int().min(0).describe('How many exchanges there are.'),
  complete: z.boolean().describe('False while it is being recorded, and when that was broken off.'),
})

export type CassetteIndex = z.infer<typeof indexSchema>

export const exchangeSchema = z.strictObject({
  exchange: z.int().min(1),
  at: z.iso.datetime(),
  api: z.enum(['anthropic', 'openai-chat', 'openai-responses', 'gemini']),
  kind: z.enum(['turn', 'side', 'compaction', 'count_tokens', 'list_models']),
  model: z.string(),
  request: z.strictObject({
    method: z.string(),
    path: z.string(),
    continues: z.int().min(1).optional(),
    kept: z.record(z.string(), z.int().min(1)).optional(),
    dropped: z.array(z.string()).optional(),
    body: z.unknown(),
  }),
  response: z.strictObject({
    status: z.int().min(100).max(599),
    headers: z.record(z.string(), z.string()),
    events: z
      .array(
        z.strictObject({
          event: z.string().optional(),
          data: z.unknown().optional(),
          text: z.unknown().optional(),
        }),
      )
      .optional(),
    json: z.unknown().optional(),
    text: z.unknown().optional(),
  }),
})

export type ExchangeFile = z.infer<typeof exchangeSchema>
