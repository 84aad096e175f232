import { hex, sha256Bytes } from './sha256.ts'

/**
 * The file of an address of the API in an exported copy of the page. The page and `gantry view --export` use the same names. A query is
 * named by its SHA-256: agents choose names of files, and must not be able to make two queries share one.
 */
export function exportedName(address: string): string {
  const [path = '', query = ''] = address.replace(/^\/v1\//, '').split('?')
  const words = query.replaceAll(/[^\w.-]+/g, '_').slice(0, 80)
  const suffix = query === '' ? '' : `-${words}-${hex(sha256Bytes(new TextEncoder().encode(query)))}`
  return `${path}${suffix}.${/\/(?:diff|file)$/.test(path) ? 'txt' : 'json'}`
}
