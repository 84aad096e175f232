import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Every file of a directory but those of git, with its content byte for byte, its mode, or where it leads. */
export function treeOf(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name !== '.git' && !name.startsWith('.git/'))
    .sort()
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = join(directory, name)
      const stats = lstatSync(path)
      if (stats.isDirectory()) return []
      const content = stats.isSymbolicLink() ? `-> ${readlinkSync(path)}` : readFileSync(path, 'latin1')
      return [[name, `${(stats.mode & 0o777).toString(8)} ${content}`]]
    }),
  )
}
