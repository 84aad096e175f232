import { basename, dirname, join } from 'node:path'
import { namesIn } from '../../io/directory.ts'
import { isFile } from '../../io/path-kind.ts'
import { firstBytes } from '../../io/read-head.ts'

/** Why Python may run something else than a changed source says: a compiled file that it takes without a look at the source. */
export function compiledInstead(root: string, changed: readonly string[]): string | null {
  for (const path of changed.filter((each) => each.endsWith('.py'))) {
    const name = basename(path, '.py')
    const directory = dirname(path)
    const cache = join(directory, '__pycache__')
    const unchecked = namesIn(join(root, cache)).find(
      (each) => each.startsWith(`${name}.`) && each.endsWith('.pyc') && isUnchecked(join(root, cache, each)),
    )
    // Python prefers the source, so this one matters only without it.
    const alone =
      isFile(join(root, path)) || !isFile(join(root, directory, `${name}.pyc`)) ? undefined : `${name}.pyc`
    const found = unchecked === undefined ? alone && join(directory, alone) : join(cache, unchecked)
    if (found !== undefined) return `Python runs ${found} in place of ${path}; remove it and run again`
  }
  return null
}

/** Its second word says that it is known by a hash of the source, and that nothing compares the hash. */
function isUnchecked(path: string): boolean {
  return firstBytes(path, 8)[4] === 1
}
