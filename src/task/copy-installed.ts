import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { copyTree } from '../io/copy-tree.ts'
import { writeFileAtomic } from '../io/files.ts'
import { infoExclude } from '../io/git-directories.ts'
import { openRepository } from '../io/git-repository.ts'
import type { ActiveTask } from './active-task.ts'
import { isHere } from './open-task.ts'
import { listed } from './open-workspace.ts'

/**
 * Copies what setup has installed into the tree of the task, where the Editor and its programs find it as the steps do. The task's own
 * git ignores the copy, so it is not part of the change. The tree of the user gets none.
 */
export async function copyInstalled(active: ActiveTask): Promise<void> {
  const { journal, tree, tools, emit, known } = active
  const git = isHere(active) ? null : await openRepository(tree.root)
  if (git?.root !== tree.root) return
  known.installed = await journal.step('installed', async () => {
    const layers = (await tools.installed?.()) ?? []
    const others = () => listed(git, ['ls-files', '--others', '--exclude-standard', '--directory', '-z'])
    const before = await others()
    try {
      for (const layer of layers.toReversed())
        await copyTree(join(layer, 'workspace'), tree.root, { keepsOutside: true, keepsTimes: true })
    } catch (error) {
      if (!(error instanceof GantryError)) throw error
      const message = `The Editor does not see all that setup installed: ${error.message}.`
      emit({ kind: 'note', level: 'warning', message })
    }
    const seen = (await others()).filter((path) => !before.includes(path))
    const rules = seen.map((path) => `/${path.replaceAll(/[*?[\]\\ ]/g, '\\$&')}\n`)
    writeFileAtomic(
      join(tree.root, '.git', 'info', 'exclude'),
      [infoExclude(tree.root).replace(/(?<=.)\n?$/s, '\n'), ...rules].join(''),
    )
    return layers
  })
}
