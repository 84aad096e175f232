import { join } from 'node:path'
import type { HookCommand } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { namesIn } from '../io/directory.ts'
import { readJsonIfExists, removeTree } from '../io/files.ts'
import { writePrivateFileAtomic } from '../io/private-files.ts'
import { sha256 } from '../io/sha256.ts'

/** The record of one changed file, in a place agents cannot reach: its original content, so that it can be restored byte for byte. */
export interface Receipt {
  /** The real path of the file. */
  readonly path: string
  /** null: there was no file. */
  readonly original: string | null
  /**
   * Hash of what we wrote, and of what we wrote before it, because a killed process leaves the older one. While the file matches one of
   * them, it was not changed since.
   */
  readonly written: readonly string[]
  /** Directories we created for it, outermost first. */
  readonly directories: readonly string[]
  /** Copies of it that we made beside it. */
  readonly backups: readonly string[]
  /** What the hooks start, to put them back; absent in receipts of older versions. */
  readonly command?: HookCommand
}

/** null when there is none or it has another shape. Then the change is based on the content of the file. */
export function readReceipt(env: Variables, path: string): Receipt | null {
  const found = readJsonIfExists(receiptPath(env, path))
  return isReceipt(found) && found.path === path ? found : null
}

/** Receipts of every file that has our hooks. Damaged ones are skipped. */
export function allReceipts(env: Variables): readonly Receipt[] {
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

export function writeReceipt(env: Variables, receipt: Receipt): void {
  writePrivateFileAtomic(receiptPath(env, receipt.path), `${JSON.stringify(receipt, null, 2)}\n`)
}

export function removeReceipt(env: Variables, path: string): void {
  removeTree(receiptPath(env, path))
}

function receiptPath(env: Variables, path: string): string {
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
