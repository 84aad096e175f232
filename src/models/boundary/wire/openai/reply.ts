import type { EncodedReply } from '../contract.ts'

export function jsonReply(body: unknown): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify(body)],
  }
}

export function streamReply(chunks: readonly string[]): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    chunks,
  }
}

export function encodeModels(models: readonly string[]): EncodedReply {
  return jsonReply({
    object: 'list',
    data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'gantry' })),
  })
}

export function encodeCount(tokens: number): EncodedReply {
  return jsonReply({ object: 'response.input_tokens', input_tokens: tokens })
}
