import type { WireRoute } from '../contract.ts'

/** Model and method stand in the path, behind a version or none. */
export function route(method: string, path: string): WireRoute | null {
  if (method === 'GET') return /(?:^|\/)models\/?$/.test(path) ? { kind: 'list_models' } : null
  const found = /(?:^|\/)models\/([^/:]+):([A-Za-z]+)$/.exec(path)
  if (method !== 'POST' || found === null) return null
  const model = decode(found[1] ?? '')
  switch (found[2]) {
    case 'generateContent':
      return { kind: 'generate', model, stream: false }
    case 'streamGenerateContent':
      return { kind: 'generate', model, stream: true }
    case 'countTokens':
      return { kind: 'count_tokens', model }
    default:
      return null
  }
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
