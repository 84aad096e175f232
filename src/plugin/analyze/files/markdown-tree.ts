import { basename } from 'node:path'
import type { PluginSource } from '../manifest/read-manifest.ts'
import { below, byCollation } from './plugin-files.ts'

/** More than any real plugin has; protects against endless trees. */
const deepest = 20
const mostFiles = 2_000

/**
 * All `.md` files below a directory, in Claude Code's order, without following links. `prunes` gets the names in a directory and
 * may choose the only file that is used.
 */
export function markdownTree(
  top: string,
  { files, notes }: Pick<PluginSource, 'files' | 'notes'>,
  prunes: (names: readonly string[]) => string | undefined = () => undefined,
): readonly string[] {
  const found: string[] = []
  const visit = (directory: string, depth: number): void => {
    const entries = files.list(directory)
    const only = prunes(entries.filter(({ kind }) => kind === 'file').map(({ name }) => name))
    for (const { name, kind } of entries) {
      const path = below(directory, name)
      if (kind === 'link' && files.placeOf(path) !== 'outside')
        notes.add('LINK_IGNORED', {
          message: `${path} is a link, and Claude Code loads no links from there`,
          path,
        })
      if (only !== undefined && name !== only) continue
      if (kind === 'directory' && depth < deepest) visit(path, depth + 1)
      if (!/\.md$/i.test(name)) continue
      if (kind === 'file') found.push(path)
      // Reading a pipe adds the finding.
      if (kind === 'other') files.read(path)
    }
  }
  visit(top, 1)
  if (found.length > mostFiles)
    notes.add('TOO_MANY_FILES', {
      message: `${top} has ${found.length} Markdown files; only the first ${mostFiles} were read`,
      path: top,
    })
  return found.sort(byCollation).slice(0, mostFiles)
}

/** The name of a file without its extension. `.MD` counts as the extension, but is not cut off. */
export function stem(path: string): string {
  return basename(path).replace(/\.md$/, '')
}
