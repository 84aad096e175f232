import type { WireRoute } from '../contract.ts'

/** Whatever stands before: clients are given a base with and without `/v1`. */
export function route(method: string, path: string): WireRoute | null {
  const place = /(?:^|\/)(messages|messages\/count_tokens|v1\/models)\/?$/.exec(path)?.[1]
  if (method === 'POST' && place === 'messages') return { kind: 'generate' }
  if (method === 'POST' && place === 'messages/count_tokens') return { kind: 'count_tokens' }
  if (method === 'GET' && place === 'v1/models') return { kind: 'list_models' }
  return null
}
