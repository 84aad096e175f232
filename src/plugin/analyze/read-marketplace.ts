import { basename, dirname, join, resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { asArray, asObject, asString } from '../../core/json-fields.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { readTextInside } from '../../io/read-text-inside.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { realPath } from '../../io/resolve-links.ts'
import { parseJsonFile } from './files/json-file.ts'

const manifest = '.claude-plugin/marketplace.json'
const maxBytes = 4 * 1024 * 1024

/**
 * The plugins of a marketplace, given its directory or its file. Nothing is fetched: a remote plugin has a problem instead of a path,
 * and so has one whose path or link leads out of the marketplace. Throws NOT_FOUND or INVALID_FILE.
 */
export async function readMarketplace(path: string) {
  const { root, file } = placeOf(resolve(path))
  const read = readTextInside(root, file, { maxBytes })
  const at = { file: join(root, file) }
  const example =
    'A marketplace is a directory with .claude-plugin/marketplace.json: {"name": …, "owner": {"name": …}, "plugins": […]}.'
  if (read.kind !== 'text') {
    const why =
      read.kind === 'outside'
        ? read.reason
        : `it ${read.kind === 'missing' ? 'does not exist' : `is ${read.kind.replaceAll('_', ' ')}`}`
    const code = read.kind === 'missing' ? 'NOT_FOUND' : 'INVALID_FILE'
    throw new GantryError(code, `${at.file} cannot be read: ${why}`, { hint: example, at })
  }
  const parsed = parseJsonFile(read.text)
  if (parsed.kind === 'broken')
    throw new GantryError('INVALID_FILE', `${at.file}:${parsed.line}:${parsed.column}: ${parsed.text}`, {
      hint: 'Fix the JSON; comments are not allowed.',
      at: { ...at, line: parsed.line, column: parsed.column },
    })
  const fields = asObject(parsed.value)
  const name = asString(fields?.name)?.trim() ?? ''
  const missing = name === '' ? 'name' : Array.isArray(fields?.plugins) ? null : 'plugins'
  if (fields === null || missing !== null)
    throw new GantryError('INVALID_FILE', `${at.file} has no ${missing ?? 'keys'}`, { hint: example, at })
  const base = asString(asObject(fields.metadata)?.pluginRoot)
  return {
    name,
    owner: asString(asObject(fields.owner)?.name) ?? asString(fields.owner) ?? null,
    /** Absolute; relative sources start here. */
    root,
    file: at.file,
    plugins: asArray(fields.plugins).map((entry, index) => pluginOf(entry, index, root, base)),
  }
}

/** The path to the marketplace may contain links; below it, links must not lead out. */
function placeOf(path: string): { readonly root: string; readonly file: string } {
  if (isDirectory(path)) {
    const isInner = basename(path) === '.claude-plugin'
    return { root: realPath(isInner ? dirname(path) : path), file: manifest }
  }
  const directory = dirname(path)
  const isUsual = basename(directory) === '.claude-plugin'
  return isUsual
    ? { root: realPath(dirname(directory)), file: join('.claude-plugin', basename(path)) }
    : { root: realPath(directory), file: basename(path) }
}

function pluginOf(value: unknown, index: number, root: string, base: string | undefined) {
  const entry = asObject(value)
  const name = asString(entry?.name)?.trim() ?? ''
  const source: unknown = entry?.source ?? null
  const found =
    name === ''
      ? { problem: `plugin ${index + 1} of the marketplace has no name` }
      : sourcePath(source, root, base)
  return {
    name: name === '' ? `#${index + 1}` : name,
    /** As written: a path, or a remote source. */
    source,
    description: asString(entry?.description) ?? null,
    /** Absolute and resolved; null when the plugin is not on this machine, and then `problem` says why. */
    path: 'path' in found ? found.path : null,
    problem: 'problem' in found ? found.problem : null,
  }
}

/** The local path of a plugin's source, or why there is none. */
function sourcePath(source: unknown, root: string, base: string | undefined) {
  const fields = asObject(source)
  if (fields !== null) {
    const kind = asString(fields.source) ?? 'an unknown kind of source'
    const from = ['repo', 'url', 'package', 'path']
      .map((key) => asString(fields[key]))
      .find((each) => each !== undefined)
    return { problem: `it is remote (${from === undefined ? kind : `${kind} ${from}`}) and is not fetched` }
  }
  if (typeof source !== 'string' || source === '') return { problem: 'it has no source' }
  if (/^[a-z][\w+.-]*:\/\//i.test(source)) return { problem: `it is remote (${source}) and is not fetched` }
  // A path that begins with ./ starts at the marketplace, any other at the directory that the marketplace names for its plugins.
  const written = source.startsWith('.') || base === undefined ? source : `${base}/${source}`
  const end = resolveInside(root, written)
  if (end.kind === 'outside') return { problem: `its source ${source} is not followed: ${end.reason}` }
  if (end.kind === 'missing' || !isDirectory(end.path))
    return { problem: `its source ${source} is not a directory` }
  return { path: end.path }
}
