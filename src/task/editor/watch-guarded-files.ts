import { join } from 'node:path'
import { deleteFileInside, writeTextInside } from '../../io/change-inside.ts'
import { namesIn } from '../../io/directory.ts'
import { readTextInside } from '../../io/files.ts'
import { isDirectory } from '../../io/path-kind.ts'

/**
 * Files git does not tell about and that must survive the Editor: how the work is verified, even when it is ignored, and what git
 * itself would run. Answers a function that puts back what changed and tells what it was.
 */
export function watchGuardedFiles(root: string): () => readonly string[] {
  const before = new Map(guarded(root).map((path) => [path, textOf(root, path)]))
  return () => {
    const paths = new Set([...before.keys(), ...guarded(root)])
    return [...paths].flatMap((path) => {
      const was = before.get(path) ?? null
      if (textOf(root, path) === was) return []
      const change = was === null ? deleteFileInside(root, path) : writeTextInside(root, path, was)
      return change.kind === 'done' ? [path] : []
    })
  }
}

function guarded(root: string): readonly string[] {
  const hooks = join(root, '.git', 'hooks')
  return [
    'agent.yaml',
    'agent.yml',
    '.git/config',
    ...(isDirectory(hooks) ? namesIn(hooks).map((name) => `.git/hooks/${name}`) : []),
  ]
}

function textOf(root: string, path: string): string | null {
  const read = readTextInside(root, path, { maxBytes: 4 * 1024 * 1024 })
  return read.kind === 'text' ? read.text : null
}
