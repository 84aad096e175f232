import { basename, dirname, join, resolve } from 'node:path'
import { asString } from '../../core/json-fields.ts'
import { isRoot } from '../../io/is-root.ts'
import { pathBelow } from '../../io/path-below.ts'
import { entryKind, isDirectory, isMissing } from '../../io/path-kind.ts'
import { realPath, resolveLinks } from '../../io/resolve-links.ts'
import type { Preflight, PreflightCode, PreflightNotice } from './contract.ts'
import { manifestFile, readManifest } from './manifest/read-manifest.ts'

/** Checks that a path leads to a plugin and may be read. `listedAs`: its name in a marketplace. Every error but a missing name ends the check at once. */
export function preflightPlugin(path: string, cwd: string, listedAs?: string): Preflight {
  const given = resolve(cwd, path)
  const checked: Checked = { given, resolved: null, manifestPath: null, name: null, errors: [] }
  const firstError = checkPath(path, checked) ?? checkManifest(checked, listedAs)
  if (firstError !== null) checked.errors.push(firstError)
  const { resolved, manifestPath, name, errors } = checked
  return {
    valid: errors.length === 0,
    plugin_path: given,
    resolved_path: resolved,
    manifest_path: manifestPath,
    plugin_name: name,
    errors,
    warnings: firstError === null ? [...warningsAbout(cwd, checked)] : [],
  }
}

interface Checked {
  readonly given: string
  resolved: string | null
  manifestPath: string | null
  name: string | null
  readonly errors: PreflightNotice[]
}

/** The home of the superuser is one for others. */
const systemDirectories = ['/etc', '/sys', '/proc', ...(isRoot() ? [] : ['/root', '/var/root'])]

function checkPath(path: string, checked: Checked): PreflightNotice | null {
  const { given } = checked
  if (path.includes('\0')) return notFound(given)
  const dangerous = systemDirectoryOf(given)
  if (dangerous !== null) return isDangerous(given, dangerous)
  if (isMissing(given) || isBelowFile(given)) return notFound(given)
  const { real, kind } = resolveLinks(given)
  if (kind === 'missing')
    return notice(
      'PATH_RESOLUTION_FAILED',
      `${given} cannot be resolved: a link in the path is broken, forms a loop, or is not readable`,
      'Fix the link, or use the path of the directory itself.',
    )
  const behind = systemDirectoryOf(real)
  if (behind !== null) return isDangerous(`${given} (${real})`, behind)
  checked.resolved = real
  return null
}

function checkManifest(checked: Checked, listedAs: string | undefined): PreflightNotice | null {
  const root = checked.resolved ?? checked.given
  const create = `Create ${manifestFile} with at least {"name": "my-plugin"}.`
  if (!isDirectory(root)) return notice('MANIFEST_NOT_FOUND', `${root} is not a directory`, create)
  const read = readManifest(root)
  const path = join(root, manifestFile)
  const name = listedAs ?? (parts.some((part) => !isMissing(join(root, part))) ? basename(root) : undefined)
  if (read.kind === 'missing' && read.why === '' && name !== undefined) {
    checked.name = name
    return null
  }
  if (read.kind === 'missing' && !isMissing(join(root, '.claude-plugin/marketplace.json')))
    return notice(
      'MANIFEST_NOT_FOUND',
      `${root} is a marketplace, not a plugin`,
      'Use --marketplace with this path and --all, or with --plugin and the name of one of its plugins.',
    )
  if (read.kind === 'missing') {
    const why = read.why === '' ? 'does not exist' : `cannot be read: ${read.why}`
    return notice('MANIFEST_NOT_FOUND', `${path} ${why}`, create)
  }
  checked.manifestPath = path
  if (read.kind === 'broken')
    return notice('MANIFEST_PARSE_ERROR', `${path} is not JSON: ${read.why}`, 'Repair the JSON.')
  if (read.kind === 'no_object') return notice('MANIFEST_INVALID', `${path} is not a JSON object`, create)
  const written = asString(read.manifest.fields.name)?.trim() ?? ''
  if (written !== '') checked.name = written
  else
    checked.errors.push(
      notice('MANIFEST_INVALID', `${path} has no name`, 'Add "name": "my-plugin" to the manifest.'),
    )
  return null
}

/** Claude Code loads a directory without a manifest when it has one of these. */
const parts = ['skills', 'agents', 'commands', 'hooks', 'output-styles', '.mcp.json', '.lsp.json', 'SKILL.md']

function* warningsAbout(
  cwd: string,
  { given, resolved, manifestPath, name }: Checked,
): Generator<PreflightNotice> {
  const root = resolved ?? given
  if (manifestPath === null)
    yield notice(
      'MANIFEST_NOT_FOUND',
      `the plugin has no ${manifestFile}; Claude Code calls it ${JSON.stringify(name)}`,
      'Add one to give it a version and a description.',
    )
  if (pathBelow(realPath(cwd), root) === null)
    yield notice(
      'PATH_OUTSIDE_CWD',
      `${root} is outside of the working directory`,
      'Check that it is the plugin you mean.',
    )
  if (entryKind(given) === 'link')
    yield notice('SYMLINK_RESOLVED', `${given} is a link to ${root}`, 'Name the directory itself to be sure.')
  if (manifestPath !== null && name !== null && !/^[a-z][a-z0-9-]*$/.test(name))
    yield notice(
      'NAME_FORMAT',
      `the name ${JSON.stringify(name)} is not kebab-case`,
      'Begin with a lower-case letter; then lower-case letters, digits and hyphens.',
    )
  if (!['skills', 'agents', 'commands'].some((part) => isDirectory(join(root, part))))
    yield notice(
      'NO_COMPONENTS',
      `${root} has no skills/, agents/ or commands/ directory`,
      'Add a component, or check the path; hooks, MCP servers and paths of the manifest are analysed anyway.',
    )
}

/** Compared with a separator at the end, so `/etcetera` does not match `/etc`. */
function systemDirectoryOf(path: string): string | null {
  const found = systemDirectories.find((directory) =>
    [directory, realPath(directory)].some((spelling) => `${path}/`.startsWith(`${spelling}/`)),
  )
  return found ?? null
}

function isDangerous(path: string, directory: string): PreflightNotice {
  return notice(
    'PATH_DANGEROUS',
    `${path} is in ${directory}, a system directory`,
    'Copy the plugin to a directory of your own.',
  )
}

function notFound(path: string): PreflightNotice {
  return notice(
    'PATH_NOT_FOUND',
    `${path} does not exist`,
    'Check the path; it starts at the working directory.',
  )
}

/** Whether the path continues below something that is not a directory. */
function isBelowFile(path: string): boolean {
  const parent = dirname(path)
  const kind = entryKind(parent)
  if (kind === null) return parent !== path && isBelowFile(parent)
  return kind === 'file' || kind === 'other'
}

function notice(code: PreflightCode, message: string, suggestion: string): PreflightNotice {
  return { code, message, suggestion }
}
