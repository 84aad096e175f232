import { join } from 'node:path'
import { writeTextInside } from '../../io/change-inside.ts'
import { copyFileInto } from '../../io/copy-file-into.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { namesIn } from '../../io/directory.ts'
import { removeTree } from '../../io/files.ts'
import { isRealDirectory } from '../../io/list-directory.ts'
import { diffSnapshots, type SnapshotDelta, snapshotTree, type TreeSnapshot } from '../../io/tree-snapshot.ts'
import type { Execution } from './contract.ts'

/** The directory a process works in, which begins every scenario anew. The process stays where it is: only what is in it changes. */
export interface ScenarioWorkspace {
  readonly dir: string
  /** Puts back what differs from the template. Answers with the paths that did. */
  putBack(): Promise<readonly string[]>
  /** Files a scenario begins with. null, or why one of them cannot be. */
  write(files: Readonly<Record<string, string>>): string | null
  /** From here on changes are the agent's. */
  mark(): void
  changes(): Execution['workspace_changes']
  /** The agent removed the directory itself, or put something else in its place: no process can work in it any more. */
  isLost(): boolean
}

/** `template` null: it begins empty. */
export async function openWorkspace(dir: string, template: string | null): Promise<ScenarioWorkspace> {
  if (template !== null) await copyTree(template, dir)
  const pristine = snapshotTree(dir)
  let marked: TreeSnapshot = pristine

  const strays = (): SnapshotDelta => diffSnapshots(pristine, snapshotTree(dir))
  const rebuild = async (): Promise<void> => {
    for (const name of namesIn(dir)) removeTree(join(dir, name))
    if (template !== null) await copyTree(template, dir)
  }
  /** A file is put back alone; anything else, a link or an empty directory, by building everything anew. */
  const mend = ({ created, changed, deleted }: SnapshotDelta): void => {
    for (const path of created) removeTree(join(dir, path))
    if (template === null) return
    for (const path of [...changed, ...deleted])
      if (pristine.get(path)?.kind === 'file') copyFileInto(join(template, path), dir, path)
  }

  return {
    dir,
    async putBack() {
      const found = strays()
      if (isEmpty(found)) return []
      mend(found)
      // Directories a created file leaves behind are empty now, and show only now.
      const rest = strays()
      if (!isEmpty(rest)) await rebuild()
      return pathsOf(found)
    },
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        const change = writeTextInside(dir, path, text)
        if (change.kind === 'refused') return `the scenario's file cannot be written: ${change.reason}`
      }
      return null
    },
    mark() {
      marked = snapshotTree(dir)
    },
    changes() {
      const { created, changed, deleted } = diffSnapshots(marked, snapshotTree(dir, { against: marked }))
      const each = (paths: readonly string[], kind: 'created' | 'modified' | 'deleted') =>
        paths.filter((path) => !isGitsOwn(path)).map((path) => ({ path, kind }))
      return [...each(created, 'created'), ...each(changed, 'modified'), ...each(deleted, 'deleted')]
    },
    isLost: () => !isRealDirectory(dir),
  }
}

function isEmpty({ created, changed, deleted }: SnapshotDelta): boolean {
  return created.length + changed.length + deleted.length === 0
}

function pathsOf({ created, changed, deleted }: SnapshotDelta): readonly string[] {
  return [...created, ...changed, ...deleted].toSorted()
}

/** To look at a repository changes its index. */
function isGitsOwn(path: string): boolean {
  return path === '.git' || path.startsWith('.git/')
}
