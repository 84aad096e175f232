import { relative } from 'node:path'
import { visibleFiles } from './visible-files.ts'

/** The visible files below a directory of the workspace, relative to the workspace. `place` is absolute, and may be a file. */
export async function filesBelow(workspace: string, place: string): Promise<readonly string[]> {
  const files = await visibleFiles(workspace)
  const below = relative(workspace, place)
  if (below === '') return files
  return files.filter((path) => path === below || path.startsWith(`${below}/`))
}
