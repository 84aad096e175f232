import { basename } from 'node:path'
import { markdownTree } from '../files/markdown-tree.ts'
import type { PluginFiles } from '../files/plugin-files.ts'
import { declaredPaths, noteIgnoredDirectory } from '../manifest/declared-paths.ts'
import { manifestFile, type PluginManifest } from '../manifest/read-manifest.ts'
import type { Notes } from '../notes.ts'

export interface AgentSource {
  readonly path: string
  /** Directories below `agents/`. */
  readonly namespace: readonly string[]
  /** Without its ending. */
  readonly fileName: string
}

const standard = 'agents'

/** Every Markdown file below `agents/`; or only those the manifest names, as soon as it names any. */
export function discoverAgents(
  files: PluginFiles,
  manifest: PluginManifest,
  notes: Notes,
): readonly AgentSource[] {
  const declared = declaredPaths(manifest, 'agents', files, notes)
  if (declared === null) return markdownTree(standard, files, notes).map(agentSource)
  const named = declared.paths.flatMap(({ path, kind, line }) => {
    if (kind === 'file' && path.endsWith('.md')) return [{ path, namespace: [], fileName: stem(path) }]
    notes.add('PATH_REFUSED', {
      message: `agents names ${path}, and Claude Code loads nothing of a plugin that names anything but files ending in .md there`,
      suggestion: kind === 'directory' ? 'Name each file of the directory.' : 'Rename the file.',
      path: manifestFile,
      line,
    })
    return []
  })
  const paths = named.map(({ path }) => path)
  noteIgnoredDirectory(standard, paths, 'agents', files, manifest, notes)
  return named
}

function agentSource(path: string): AgentSource {
  const parts = path.split('/')
  return { path, namespace: parts.slice(1, -1), fileName: stem(path) }
}

/** `.MD` is taken as an ending, but not cut off. */
function stem(path: string): string {
  return basename(path).replace(/\.md$/, '')
}
