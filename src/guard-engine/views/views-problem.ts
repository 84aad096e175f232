import { join } from 'node:path'
import { readHead } from '../../io/read-head.ts'
import { isOwnTrace, maxViewBytes, mayReplace, viewFiles } from './own-view.ts'
import { stateDirectory } from './state-directory.ts'

/** For people: why views are not written where the settings want them; null when they are. */
export function viewsProblem(root: string, stateDir: string): string | null {
  const where = stateDirectory(root, stateDir)
  if (where.kind === 'refused')
    return `The views of the guard are not written: the state directory ${stateDir} is not used, because ${where.reason}.`
  const written = [viewFiles.state, viewFiles.edits].filter(
    (name) => !mayReplace(name, readHead(join(where.path, name), maxViewBytes)),
  )
  const trace = isOwnTrace(join(where.path, viewFiles.trace)) === false ? [viewFiles.trace] : []
  const foreign = [...written, ...trace]
  if (foreign.length === 0) return null
  return `In the state directory ${stateDir} these are no views of the guard and stay as they are: ${foreign.join(', ')}. Move them away, or set state.dir to another directory.`
}
