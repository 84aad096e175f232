import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listFiles } from '../io/list-files.ts'
import { isFile } from '../io/path-kind.ts'
import { securityHeaders } from './answer.ts'

/** Files of the page by their path; empty when it was not built. */
export type PageFiles = ReadonlyMap<
  string,
  { readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Readonly<Record<string, string>> }
>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** Only files of this server, no inline script, no HTML made by script, and no frame around it. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** In the package, beside the bundled program, or built in a checkout. */
const places = ['../view', '../../view', '../../dist/view']

export function pageDirectory(): string | null {
  const found = places.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return found.find((dir) => isFile(join(dir, 'index.html'))) ?? null
}

export function pageFiles(dir = pageDirectory()): PageFiles {
  if (dir === null) return new Map()
  return new Map(
    listFiles(dir).map((path) => {
      const isPage = path === 'index.html'
      const headers = {
        ...securityHeaders,
        'content-security-policy': `${pagePolicy}; frame-ancestors 'none'`,
        'content-type': types[extname(path)] ?? 'application/octet-stream',
        'cross-origin-opener-policy': 'same-origin',
        // Their names have a hash of their content.
        ...(path.startsWith('assets/') && { 'cache-control': 'private, max-age=31536000, immutable' }),
      }
      return [isPage ? '/' : `/${path}`, { bytes: readFileSync(join(dir, path)), headers }]
    }),
  )
}
