import { dirname } from 'node:path'
import { type Clock, systemClock } from '../io/clock.ts'
import { readTextIfExists } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import {
  copyBeside,
  discardDraft,
  type ForeignFile,
  removeForeignFile,
  replaceForeignFile,
} from '../io/replace-file.ts'
import { sha256 } from '../io/sha256.ts'
import { type Change, isAsWritten } from './plan-change.ts'
import { removeReceipt, writeReceipt } from './receipt.ts'

export interface ApplyContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
}

export interface Applied {
  /** Copy of the file as it was, when there was one. */
  readonly backup: string | null
}

/**
 * Receipt, backup, file, in this order: whoever is killed in between has lost nothing, and the next install or uninstall goes
 * on from the receipt.
 */
export function applyInstall(change: Change, { env, clock = systemClock }: ApplyContext): Applied {
  const { file, after, original, receipt } = change
  if (after === null || after === file.text) return { backup: null }
  const backup = file.text === null ? null : (usableBackup(change) ?? freeBackupName(file.real, clock))
  writeReceipt(env, {
    path: file.real,
    original,
    written: [...(isAsWritten(file, receipt) ? [sha256(file.text ?? '')] : []), sha256(after)],
    directories: receipt?.directories ?? missingDirectories(dirname(file.real)),
    backups: [...new Set([...(receipt?.backups ?? []), ...(backup === null ? [] : [backup])])],
  })
  if (backup !== null && pathKind(backup) === null) copyBeside(file, backup)
  replaceForeignFile(file, after)
  return { backup }
}

/** Directories, copies and the receipt go too, but the copies only when the file is what it was. */
export function applyUninstall(change: Change, { env }: ApplyContext): { readonly kept: readonly string[] } {
  const { file, after, receipt } = change
  const isExact = isAsWritten(file, receipt) || file.text === receipt?.original
  if (after !== file.text) {
    if (after === null) removeForeignFile(file)
    else replaceForeignFile(file, after)
  }
  discardDraft(file)
  const backups = (receipt?.backups ?? []).filter(
    (path) => isBackupOf(file, path) && pathKind(path) === 'file',
  )
  if (isExact) for (const path of backups) removeTree(path)
  for (const directory of receipt?.directories.toReversed() ?? []) removeIfEmpty(directory)
  if (receipt !== null) removeReceipt(env, file.real)
  return { kept: isExact ? [] : backups }
}

/** The copy an install made that was killed before it wrote the file. */
function usableBackup({ file, receipt }: Change): string | null {
  if (receipt === null || receipt.original !== file.text) return null
  return (
    receipt.backups.find((path) => isBackupOf(file, path) && readTextIfExists(path) === file.text) ?? null
  )
}

function isBackupOf({ real }: ForeignFile, path: string): boolean {
  return path.startsWith(`${real}${backupMark}`)
}

const backupMark = '.gantry-backup-'

function freeBackupName(real: string, clock: Clock): string {
  const stamp = clock.now().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const name = `${real}${backupMark}${stamp}`
  for (let again = 1; ; again += 1) {
    const candidate = again === 1 ? name : `${name}-${again}`
    if (pathKind(candidate) === null) return candidate
  }
}

/** Outermost first. */
function missingDirectories(directory: string): readonly string[] {
  if (pathKind(directory) !== null || dirname(directory) === directory) return []
  return [...missingDirectories(dirname(directory)), directory]
}
