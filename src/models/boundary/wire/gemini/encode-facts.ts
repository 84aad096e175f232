import type { EncodedReply } from '../contract.ts'

export function encodeCount(tokens: number): EncodedReply {
  return document({ totalTokens: tokens })
}

export function encodeModels(models: readonly string[]): EncodedReply {
  return document({
    models: models.map((id) => ({
      name: `models/${id}`,
      displayName: id,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    })),
  })
}

function document(body: object): EncodedReply {
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=UTF-8' },
    chunks: [JSON.stringify(body)],
  }
}
