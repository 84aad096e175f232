import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { asString } from '../../core/json-fields.ts'
import { entryKind, isDirectory, isMissing } from '../../io/path-kind.ts'
import { realPath, resolveLinks } from '../../io/resolve-links.ts'
import type { Preflight, PreflightCode, PreflightNotice } from './contract.ts'
import { manifestFile, readManifest } from './manifest/read-manifest.ts'

/** Checks that a path leads to a plugin and may be read. Every error but a missing name ends the check at once. */
export function preflightPlugin(path: string, cwd: string): Preflight {
  const given = resolve(cwd, path)
  const checked: Checked = { given, resolved: null, manifestPath: null, name: null, errors: [], warnings: [] }
  const firstError = checkPath(path, checked) ?? checkManifest(checked)
  if (firstError !== null) checked.errors.push(firstError)
  else collectWarnings(cwd, checked)
  const { resolved, manifestPath, name, errors, warnings } = checked
  return {
    valid: errors.length === 0,
    plugin_path: given,
    resolved_path: resolved,
    manifest_path: manifestPath,
    plugin_name: name,
    errors,
    warnings,
  }
}

interface Checked {
  readonly given: string
  resolved: string | null
  manifestPath: string | null
  name: string | null
  readonly errors: PreflightNotice[]
  readonly warnings: PreflightNotice[]
}

/** The superuser's home is among them: no plugin is started from there. */
const systemDirectories = ['/etc', '/sys', '/proc', '/root', '/var/root']

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

function checkManifest(checked: Checked): PreflightNotice | null {
  const root = checked.resolved ?? checked.given
  const create = `Create ${manifestFile} with at least {"name": "my-plugin"}.`
  if (!isDirectory(root)) return notice('MANIFEST_NOT_FOUND', `${root} is not a directory`, create)
  const read = readManifest(root)
  const path = join(root, manifestFile)
  if (read.kind === 'missing') {
    const why = read.why === '' ? 'is not there' : `cannot be read: ${read.why}`
    return notice('MANIFEST_NOT_FOUND', `${path} ${why}`, create)
  }
  checked.manifestPath = path
  if (read.kind === 'broken')
    return notice('MANIFEST_PARSE_ERROR', `${path} is not JSON: ${read.why}`, 'Repair the JSON.')
  if (read.kind === 'no_object') return notice('MANIFEST_INVALID', `${path} is not a JSON object`, create)
  const name = asString(read.manifest.fields.name)?.trim() ?? ''
  if (name !== '') checked.name = name
  else
    checked.errors.push(
      notice('MANIFEST_INVALID', `${path} has no name`, 'Add "name": "my-plugin" to the manifest.'),
    )
  return null
}

function collectWarnings(cwd: string, { given, resolved, name, warnings }: Checked): void {
  const root = resolved ?? given
  if (!isBelow(realPath(cwd), root))
    warnings.push(
      notice(
        'PATH_OUTSIDE_CWD',
        `${root} is outside of the working directory`,
        'Check that it is the plugin you mean.',
      ),
    )
  if (entryKind(given) === 'link')
    warnings.push(
      notice('SYMLINK_RESOLVED', `${given} is a link to ${root}`, 'Name the directory itself to be sure.'),
    )
  if (name !== null && !/^[a-z][a-z0-9-]*$/.test(name))
    warnings.push(
      notice(
        'NAME_FORMAT',
        `the name ${JSON.stringify(name)} is not kebab-case`,
        'Begin with a lower-case letter; then lower-case letters, digits and hyphens.',
      ),
    )
  if (!['skills', 'agents', 'commands'].some((part) => isDirectory(join(root, part))))
    warnings.push(
      notice(
        'NO_COMPONENTS',
        `${root} has no skills/, agents/ or commands/ directory`,
        'Add a component, or check the path; hooks, MCP servers and paths of the manifest are analysed anyway.',
      ),
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

function isBelow(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../'))
}

function notice(code: PreflightCode, message: string, suggestion: string): PreflightNotice {
  return { code, message, suggestion }
}
