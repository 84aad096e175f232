import type { EncodedReply } from '../contract.ts'

export function encodeCount(tokens: number): EncodedReply {
  return document({ input_tokens: tokens })
}

export function encodeModels(models: readonly string[]): EncodedReply {
  return document({
    data: models.map((id) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: '2025-01-01T00:00:00Z',
    })),
    has_more: false,
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
  })
}

function document(body: object): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  }
}
