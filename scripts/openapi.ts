import { openApiDocument } from '../src/server/openapi.ts'

/** The document of the HTTP API, by path. */
export function openApiFile(): Record<string, string> {
  return { 'schemas/openapi.json': `${JSON.stringify(openApiDocument(), null, 2)}\n` }
}
