import { asArray, asObject, type JsonObject } from '../../../core/json-fields.ts'
import { markdownTree } from '../files/markdown-tree.ts'
import { tidyPath } from '../files/plugin-files.ts'
import { createNotes } from '../notes.ts'
import { hasWrongEnding, manifestFile, type PluginSource } from './read-manifest.ts'

/** An existing file or directory that the manifest names. Relative to the root, without `./`. */
type DeclaredPath = NonNullable<ReturnType<typeof follow>>

/** The paths and objects of one manifest key; null when the key is missing. A path that cannot be followed becomes a finding. */
export function declaredPaths(key: string, plugin: PluginSource) {
  const { manifest } = plugin
  const value = manifest.fields[key]
  if (value === undefined || value === null) return null
  const items = Array.isArray(value)
    ? asArray(value).map((item, index) => ({ item, at: [key, index] }))
    : [{ item: value, at: [key] }]
  const paths: DeclaredPath[] = []
  /** Objects written in the manifest itself, and where. */
  const inline: { value: JsonObject; at: (string | number)[] }[] = []
  for (const { item, at } of items) {
    const object = asObject(item)
    if (object !== null) inline.push({ value: object, at })
    if (typeof item !== 'string') continue
    const found = follow(item, key, manifest.lineOf(at), plugin)
    if (found !== null && !paths.some(({ path }) => path === found.path)) paths.push(found)
  }
  return { paths, inline }
}

/** One path of the manifest, as Claude Code would resolve it; null when it would not. */
export function follow(written: string, key: string, line: number, { files, notes }: PluginSource) {
  const at = { path: manifestFile, line }
  if (key === 'mcpServers' && /^https?:\/\/.*\.(?:mcpb|dxt)$/.test(written)) {
    notes.add('MCP_INVALID', { ...unreadBundle(written), ...at })
    return null
  }
  if (!written.startsWith('./') && !written.startsWith('../')) {
    notes.add('PATH_REFUSED', {
      message: `${key} names '${written}', which does not begin with ./, so Claude Code loads nothing of this plugin`,
      suggestion: `Write './${written.replace(/^\/+/, '')}'.`,
      unloads: true,
      ...at,
    })
    return null
  }
  if (hasWrongEnding(key, written)) return null
  const path = tidyPath(files.root, written)
  const place = path === '..' || path.startsWith('../') ? 'outside' : files.placeOf(path)
  switch (place) {
    case 'file':
    case 'directory':
      return { path, kind: place, line }
    case 'missing':
      notes.add('PATH_MISSING', {
        message: `${key} names ${written}, which does not exist`,
        ...at,
      })
      return null
    case 'outside':
      notes.add('LINK_OUTSIDE', {
        message: `${key} names ${written}, which leads out of the plugin`,
        ...at,
      })
      return null
    case 'other':
      notes.add('FILE_UNREADABLE', {
        message: `${key} names ${written}, which is neither a file nor a directory`,
        ...at,
      })
      return null
  }
}

/** About a server in an archive. */
export function unreadBundle(path: string) {
  return {
    message: `${path} is a bundle, which is not analysed`,
    suggestion: 'To evaluate its server, declare it in a file with mcpServers.',
    severity: 'info',
  } as const
}

/** Reports files of a default directory that are not loaded because the manifest names others. */
export function noteIgnoredDirectory(
  directory: string,
  named: readonly string[],
  key: string,
  { files, manifest, notes }: PluginSource,
): void {
  const isWholeNamed = [manifest.fields[key]]
    .flat()
    .some((path) => typeof path === 'string' && tidyPath(files.root, path) === directory)
  if (isWholeNamed) return
  // Problems of files that are not loaded do not matter.
  const left = markdownTree(directory, { files, notes: createNotes() }).filter(
    (path) => !named.includes(path),
  )
  if (left.length === 0) return
  notes.add('DEFAULT_DIRECTORY_IGNORED', {
    message: `the manifest has ${key}, so Claude Code does not load ${directory}/: ${left.slice(0, 5).join(', ')}${left.length > 5 ? ` and ${left.length - 5} more` : ''}`,
    suggestion: `${key === 'agents' ? `Add each of them to ${key}` : `Add './${directory}' to ${key}`}, or remove ${key} from the manifest.`,
    path: manifestFile,
    line: manifest.lineOf([key]),
    detail: { files: left },
  })
}
