import { join } from 'node:path'
import { namesIn } from '../../io/directory.ts'
import { removeTree } from '../../io/files.ts'
import { isRealDirectory } from '../../io/list-directory.ts'

/**
 * Claude Code may keep notes for later conversations in its HOME, and `/clear` does not forget them: what one scenario noted
 * would be known to the next. Never follows a link: an agent may have laid one.
 */
export function forgetMemories(home: string): void {
  const settings = join(home, '.claude')
  const projects = join(settings, 'projects')
  if (!isRealDirectory(settings) || !isRealDirectory(projects)) return
  for (const name of namesIn(projects)) {
    const memory = join(projects, name, 'memory')
    if (!isRealDirectory(join(projects, name)) || !isRealDirectory(memory)) continue
    for (const note of namesIn(memory)) removeTree(join(memory, note))
  }
}
