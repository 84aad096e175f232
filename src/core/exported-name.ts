/**
 * The file of an address of the API in an exported copy of the page. The page and `gantry view --export` use the same names. A query has
 * a hash, so that two of them never share a file.
 */
export function exportedName(address: string): string {
  const [path = '', query = ''] = address.replace(/^\/v1\//, '').split('?')
  const words = query.replaceAll(/[^\w.-]+/g, '_').slice(0, 80)
  const suffix = query === '' ? '' : `-${words}-${hash(query)}`
  return `${path}${suffix}.${/\/(?:diff|file)$/.test(path) ? 'txt' : 'json'}`
}

/** FNV-1a, 32 bits. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return (value >>> 0).toString(16)
}
