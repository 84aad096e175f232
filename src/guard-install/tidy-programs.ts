import { basename, dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { sealedSomewhere } from '../guard-engine/seal/seal-files.ts'
import { directoriesIn, modifiedAtMs } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'
import { writePrivateFileAtomic } from '../io/private-files.ts'
import { readShortText } from '../io/read-short-text.ts'
import { allLaunchers, unusedMark } from './hook-launcher.ts'
import { allReceipts } from './receipt.ts'

/** A session keeps its hooks, and a resumed session may be weeks old. */
const patienceMs = 30 * 24 * 60 * 60_000
const maxConfigBytes = 16 * 1024 * 1024

/**
 * Removes launchers that no file with a receipt has named for a month and no project's seal expects, and compiled code of programs that no
 * hook has started for a month. Leftovers only take disk space, so errors are ignored.
 */
export function tidyPrograms(env: Variables, nowMs: number): void {
  try {
    tidyLaunchers(env, nowMs)
    tidyCompiled(env, nowMs)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
  }
}

function tidyLaunchers(env: Variables, nowMs: number): void {
  const configs = allReceipts(env).map(({ path }) => readShortText(path, maxConfigBytes) ?? '')
  let sealed: ReadonlySet<string> | null = null
  for (const path of allLaunchers(env)) {
    const directory = dirname(path)
    const mark = unusedMark(path)
    // By the last two path segments, because configurations quote the rest differently.
    const isNamed = configs.some((text) => text.includes(`${basename(directory)}/${basename(path)}`))
    if (isNamed) removeTree(mark)
    else if (!isFile(mark)) writePrivateFileAtomic(mark, '')
    else if (nowMs - (modifiedAtMs(mark) ?? nowMs) >= patienceMs) {
      sealed ??= sealedSomewhere(guardHome(env))
      if (!sealed.has(path)) removeTree(directory)
    }
  }
}

/** A hook that starts often renews its cache. The directories of its events show when. */
function tidyCompiled(env: Variables, nowMs: number): void {
  const all = join(guardHome(env), 'cache')
  for (const name of directoriesIn(all)) {
    if (!name.startsWith('hook-')) continue
    const directory = join(all, name)
    const places = [directory, ...directoriesIn(directory).map((event) => join(directory, event))]
    const latestMs = Math.max(...places.map((place) => modifiedAtMs(place) ?? 0))
    if (nowMs - latestMs >= patienceMs) removeTree(directory)
  }
}
