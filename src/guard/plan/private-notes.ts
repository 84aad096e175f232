import { join } from 'node:path'
import { ledgerPlace } from '../../guard-engine/ledger/ledger-place.ts'
import { directoriesIn, readTextIfExists } from '../../io/directory.ts'
import { readJsonIfExists, removeTree } from '../../io/files.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { makePrivateDirectories, writePrivateAtomic } from '../../io/private-store.ts'

/** How an iteration found the plan and the tree. */
export interface Begun {
  readonly task: string
  readonly line: number
  readonly plan: string
  /** The tree when its task was begun. */
  readonly baseline: string
}

/**
 * What a run needs word for word and must not redact: the plan's text and states of the tree. It lies with the guard's own, for
 * this user alone, and not in the run directory, which people pass on.
 */
export interface PrivateNotes {
  /** Of the shadow repository. */
  readonly shadow: string
  begin(iteration: string, begun: Begun): void
  begunOf(iteration: string): Begun | null
  remove(): void
}

export interface NotesPlace {
  readonly guardHome: string
  readonly root: string
  readonly runDir: string
  readonly runId: string
}

export function openPrivateNotes({ guardHome, root, runDir, runId }: NotesPlace): PrivateNotes {
  const all = join(ledgerPlace(guardHome, root, '').directory, 'plan-runs')
  removeOrphans(all)
  const dir = join(all, runId)
  makePrivateDirectories(dir)
  writePrivateAtomic(join(dir, ownerFile), runDir)
  return {
    shadow: join(dir, 'shadow.git'),
    begin: (iteration, begun) => writePrivateAtomic(join(dir, `${iteration}.json`), JSON.stringify(begun)),
    begunOf: (iteration) => begunFrom(readJsonIfExists(join(dir, `${iteration}.json`))),
    remove: () => removeTree(dir),
  }
}

const ownerFile = 'run-directory'

/** Notes of runs that were cleaned away. */
function removeOrphans(all: string): void {
  for (const name of directoriesIn(all)) {
    const owner = readTextIfExists(join(all, name, ownerFile))
    if (owner === null || !isDirectory(owner)) removeTree(join(all, name))
  }
}

function begunFrom(value: unknown): Begun | null {
  if (typeof value !== 'object' || value === null) return null
  const { task, line, plan, baseline } = value as Partial<Record<keyof Begun, unknown>>
  const areTexts = [task, plan, baseline].every((text) => typeof text === 'string')
  return areTexts && typeof line === 'number' ? (value as Begun) : null
}
