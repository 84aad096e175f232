import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { namesIn } from '../io/directory.ts'
import { readJsonIfExists, removeTree } from '../io/files.ts'
import { writePrivateAtomic } from '../io/private-store.ts'
import { sha256 } from '../io/sha256.ts'

/** What was done to one file, kept where no agent reaches it: how it was before, so that it can be so again to the byte. */
export interface Receipt {
  /** The real path of the file. */
  readonly path: string
  /** null: there was no file. */
  readonly original: string | null
  /**
   * Hash of what we wrote, and of what we had written before it: whoever is killed in between leaves the older one. While the file
   * has one of them, nobody changed it since.
   */
  readonly written: readonly string[]
  /** Directories we made for it, outermost first. */
  readonly directories: readonly string[]
  /** Copies of it beside it that we made. */
  readonly backups: readonly string[]
}

type Env = Readonly<Record<string, string | undefined>>

/** null when there is none, or one of another shape: then the file is changed by what stands in it. */
export function readReceipt(env: Env, path: string): Receipt | null {
  const found = readJsonIfExists(receiptPath(env, path))
  return isReceipt(found) && found.path === path ? found : null
}

/** Of every file hooks were put into and not taken out of; what is damaged is passed over. */
export function allReceipts(env: Env): readonly Receipt[] {
  const directory = join(guardHome(env), 'installs')
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const found = jsonIn(join(directory, name))
      return isReceipt(found) ? [found] : []
    })
}

function jsonIn(path: string): unknown {
  try {
    return readJsonIfExists(path)
  } catch (cause) {
    if (cause instanceof GantryError && cause.code === 'CORRUPT') return undefined
    throw cause
  }
}

export function writeReceipt(env: Env, receipt: Receipt): void {
  writePrivateAtomic(receiptPath(env, receipt.path), `${JSON.stringify(receipt, null, 2)}\n`)
}

export function removeReceipt(env: Env, path: string): void {
  removeTree(receiptPath(env, path))
}

function receiptPath(env: Env, path: string): string {
  return join(guardHome(env), 'installs', `${sha256(path).slice(0, 24)}.json`)
}

function isReceipt(value: unknown): value is Receipt {
  if (typeof value !== 'object' || value === null) return false
  const { path, original, written, directories, backups } = value as Partial<Record<keyof Receipt, unknown>>
  const areTexts = (list: unknown): boolean =>
    Array.isArray(list) && list.every((item) => typeof item === 'string')
  return (
    typeof path === 'string' &&
    areTexts(written) &&
    (original === null || typeof original === 'string') &&
    areTexts(directories) &&
    areTexts(backups)
  )
}
