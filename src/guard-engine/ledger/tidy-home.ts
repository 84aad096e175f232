import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { modifiedAtMs, namesIn } from '../../io/directory.ts'
import { writePrivateFileAtomic } from '../../io/private-files.ts'
import { removeTree } from '../../io/remove-tree.ts'

const dayMs = 24 * 3_600_000
/** Private copies of protected files, and versions that were put aside. */
const copiesDays = 7
/** What a resumed session makes again. */
const cacheDays = 30
const ledgerDays = 90
/** In one go. The next day begins with the following ones. */
const maxProjects = 200

/**
 * Once a day, at the end of a session: removes what sessions left behind that were not continued, in all projects. The newest ledger of a
 * project stays, and so do its notes. Leftovers only take disk space, so errors are ignored.
 */
export function tidyHome(guardHome: string, nowMs: number): void {
  const mark = join(guardHome, 'tidied')
  const isOld = (path: string, days: number): boolean => nowMs - (modifiedAtMs(path) ?? nowMs) >= days * dayMs
  try {
    if (modifiedAtMs(mark) !== null && !isOld(mark, 1)) return
    writePrivateFileAtomic(mark, '')
    removeOld(join(guardHome, 'kernel'), cacheDays)
    const projects = join(guardHome, 'projects')
    const names = namesIn(projects).toSorted()
    const first = (Math.floor(nowMs / dayMs) * maxProjects) % Math.max(1, names.length)
    for (const name of [...names.slice(first), ...names.slice(0, first)].slice(0, maxProjects))
      tidyProject(join(projects, name))
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
  }

  function removeOld(directory: string, days: number): void {
    for (const name of namesIn(directory))
      if (isOld(join(directory, name), days)) removeTree(join(directory, name))
  }

  function tidyProject(project: string): void {
    for (const name of ['checkpoints', 'trees', 'trees.sources']) removeOld(join(project, name), cacheDays)
    const sessions = join(project, 'sessions')
    for (const name of namesIn(join(project, 'protected'))) {
      const directory = join(project, 'protected', name)
      const used = ['', 'aside', 'copies', 'index.json'].map((each) => join(directory, each))
      const isUnused = (days: number): boolean =>
        [...used, join(sessions, `${name}.jsonl`)].every(
          (path) => modifiedAtMs(path) === null || isOld(path, days),
        )
      if (isUnused(cacheDays)) removeTree(directory)
      else if (isUnused(copiesDays)) for (const each of ['aside', 'copies']) removeTree(join(directory, each))
    }
    const newest = namesIn(sessions)
      .map((name) => ({ path: join(sessions, name), at: modifiedAtMs(join(sessions, name)) ?? 0 }))
      .toSorted((one, other) => other.at - one.at)
    for (const { path } of newest.slice(1)) if (isOld(path, ledgerDays)) removeTree(path)
  }
}
