import { markdownTree } from './files/markdown-tree.ts'
import type { PluginFiles } from './files/plugin-files.ts'
import { type Manifest, manifestFile } from './manifest/read-manifest.ts'
import { createNotes, type Notes } from './notes.ts'

/** Says so when files of a default directory are not loaded, because the manifest names others instead. */
export function noteIgnoredDirectory(
  directory: string,
  named: readonly string[],
  key: string,
  files: PluginFiles,
  manifest: Manifest,
  notes: Notes,
): void {
  // What is wrong with files that are not loaded is of no interest.
  const left = markdownTree(directory, files, createNotes()).filter((path) => !named.includes(path))
  if (left.length === 0) return
  notes.add('DEFAULT_DIRECTORY_IGNORED', {
    message: `the manifest has ${key}, so that Claude Code does not load ${directory}/: ${left.slice(0, 5).join(', ')}${left.length > 5 ? ` and ${left.length - 5} more` : ''}`,
    suggestion: `Add './${directory}' to ${key}, or remove ${key} from the manifest.`,
    path: manifestFile,
    line: manifest.lineOf([key]),
    detail: { files: left },
  })
}
