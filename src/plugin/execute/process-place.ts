import { join } from 'node:path'
import { makeDirectories } from '../../io/directory.ts'
import { randomSuffix } from '../../io/ids.ts'

/** Directories that one process has for itself. */
export interface ProcessPlace {
  readonly dir: string
  readonly home: string
  readonly tmp: string
  readonly workspace: string
}

export function makeProcessPlace(workDir: string): ProcessPlace {
  const dir = join(workDir, `p-${randomSuffix(8)}`)
  const place = { dir, home: join(dir, 'home'), tmp: join(dir, 'tmp'), workspace: join(dir, 'workspace') }
  for (const path of [place.home, place.tmp, place.workspace]) makeDirectories(path)
  return place
}
