import { basename, dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { sealedSomewhere } from '../guard-engine/seal/seal-files.ts'
import { directoriesIn, modifiedAtMs } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'
import { writePrivateAtomic } from '../io/private-store.ts'
import { readShortText } from '../io/read-short-text.ts'
import { allLaunchers, unusedMark } from './hook-launcher.ts'
import { allReceipts } from './receipt.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A session keeps the hooks it began with, and one that is resumed may be weeks old. */
const patienceMs = 30 * 24 * 60 * 60_000
const maxConfigBytes = 16 * 1024 * 1024

/**
 * Removes launchers that no file with a receipt has named for a month, and that no project's seal expects to be there, and what
 * was compiled of programs that no hook has started for as long. Only room is at stake: what cannot be removed stays.
 */
export function tidyPrograms(env: Env, nowMs: number): void {
  try {
    tidyLaunchers(env, nowMs)
    tidyCompiled(env, nowMs)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
  }
}

function tidyLaunchers(env: Env, nowMs: number): void {
  const configs = allReceipts(env).map(({ path }) => readShortText(path, maxConfigBytes) ?? '')
  let sealed: ReadonlySet<string> | null = null
  for (const path of allLaunchers(env)) {
    const directory = dirname(path)
    const mark = unusedMark(path)
    // By its last two names: how a configuration quotes the rest is its own affair.
    const isNamed = configs.some((text) => text.includes(`${basename(directory)}/${basename(path)}`))
    if (isNamed) removeTree(mark)
    else if (!isFile(mark)) writePrivateAtomic(mark, '')
    else if (nowMs - (modifiedAtMs(mark) ?? nowMs) >= patienceMs) {
      sealed ??= sealedSomewhere(guardHome(env))
      if (!sealed.has(path)) removeTree(directory)
    }
  }
}

/** A hook that starts often renews what it keeps; the directories of its events tell when. */
function tidyCompiled(env: Env, nowMs: number): void {
  const all = join(guardHome(env), 'cache')
  for (const name of directoriesIn(all)) {
    if (!name.startsWith('hook-')) continue
    const directory = join(all, name)
    const places = [directory, ...directoriesIn(directory).map((event) => join(directory, event))]
    const latestMs = Math.max(...places.map((place) => modifiedAtMs(place) ?? 0))
    if (nowMs - latestMs >= patienceMs) removeTree(directory)
  }
}
