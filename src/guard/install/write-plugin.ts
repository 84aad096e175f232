import { dirname, join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { showChange } from '../../guard-install/show-change.ts'
import { namesIn, readTextIfExists } from '../../io/directory.ts'
import { readJsonIfExists, removeTree, writeFileAtomic } from '../../io/files.ts'
import { pathKind } from '../../io/path-kind.ts'
import { hasProgram, makeExecutable } from '../../io/private-program.ts'
import { removeIfEmpty } from '../../io/remove-if-empty.ts'
import { pluginName } from './plugin-files.ts'

export interface PluginOutcome {
  readonly path: string
  readonly result: 'installed' | 'updated' | 'unchanged' | 'removed' | 'absent'
  readonly diff: string
}

/** The directory with exactly these files of ours in it; one that holds anything but this plugin is refused. */
export function writePlugin(
  path: string,
  files: ReadonlyMap<string, string>,
  { dryRun }: { readonly dryRun: boolean },
): PluginOutcome {
  const isThere = checkOurs(path)
  const changed = [...files].filter(([name, text]) => !isWritten(join(path, name), text, isProgram(name)))
  const diff = changed.map(([name, text]) => diffOf(path, name, text)).join('')
  if (!dryRun) {
    for (const [name, text] of changed) {
      writeFileAtomic(join(path, name), text)
      if (isProgram(name)) makeExecutable(join(path, name), 0o755)
    }
  }
  return { path, result: changed.length === 0 ? 'unchanged' : isThere ? 'updated' : 'installed', diff }
}

function isProgram(name: string): boolean {
  return name.startsWith('bin/')
}

function isWritten(path: string, text: string, isProgram: boolean): boolean {
  return isProgram ? hasProgram(path, text) : readTextIfExists(path) === text
}

/** What others put beside it stays. */
export function removePlugin(
  path: string,
  names: Iterable<string>,
  { dryRun }: { readonly dryRun: boolean },
): PluginOutcome {
  if (!checkOurs(path)) return { path, result: 'absent', diff: '' }
  const there = [...names].filter((name) => pathKind(join(path, name)) === 'file')
  const diff = there.map((name) => diffOf(path, name, null)).join('')
  if (!dryRun) {
    for (const name of there) removeTree(join(path, name))
    const directories = new Set(there.flatMap((name) => parentsOf(name)))
    for (const directory of [...directories].sort((a, b) => b.length - a.length))
      removeIfEmpty(join(path, directory))
  }
  return { path, result: 'removed', diff }
}

/** False for a directory that is not there or is empty. */
function checkOurs(path: string): boolean {
  const kind = pathKind(path)
  if (kind === null || (kind === 'directory' && namesIn(path).length === 0)) return false
  const manifest =
    kind === 'directory' ? readJsonIfExists(join(path, '.claude-plugin', 'plugin.json')) : undefined
  if (typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === pluginName)
    return true
  throw new GantryError('USAGE', `${path} is there, and it is not the guard's plugin`, {
    hint: 'Name a directory that is new or empty.',
  })
}

function diffOf(path: string, name: string, after: string | null): string {
  const file = join(path, name)
  // The program is one file of thousands of lines: nobody reads its diff.
  if (name.startsWith('dist/')) return `${after === null ? 'remove' : 'write'} ${file}\n`
  return showChange({ file: { path: file, real: file, text: readTextIfExists(file) }, after })
}

function parentsOf(name: string): readonly string[] {
  const parent = dirname(name)
  return parent === '.' ? ['.'] : [...parentsOf(parent), parent]
}
