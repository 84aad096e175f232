import { asObject, asString } from '../../core/json-fields.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { resolveInside } from '../../io/resolve-inside.ts'

/** Where the source of a plugin leads on this machine, or why it leads nowhere here. */
export function sourcePath(
  source: unknown,
  root: string,
  base: string | undefined,
): { readonly path: string } | { readonly problem: string } {
  const fields = asObject(source)
  if (fields !== null) {
    const kind = asString(fields.source) ?? 'an unknown kind of source'
    const from = ['repo', 'url', 'package', 'path']
      .map((key) => asString(fields[key]))
      .find((each) => each !== undefined)
    return {
      problem: `it comes from elsewhere (${from === undefined ? kind : `${kind} ${from}`}) and is not fetched`,
    }
  }
  if (typeof source !== 'string' || source === '') return { problem: 'it has no source' }
  if (/^[a-z][\w+.-]*:\/\//i.test(source))
    return { problem: `it comes from elsewhere (${source}) and is not fetched` }
  // A path that begins with ./ starts at the marketplace, any other at the directory the marketplace names for its plugins.
  const written = source.startsWith('.') || base === undefined ? source : `${base}/${source}`
  const end = resolveInside(root, written)
  if (end.kind === 'outside') return { problem: `its source ${source} is not followed: ${end.reason}` }
  if (end.kind === 'missing' || !isDirectory(end.path))
    return { problem: `its source ${source} is no directory` }
  return { path: end.path }
}
