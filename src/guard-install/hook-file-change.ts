import { dirname } from 'node:path'
import type { HookCommand, HookInstaller, HookPlace, HookScope } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { type Clock, systemClock } from '../io/clock.ts'
import { readTextIfExists } from '../io/directory.ts'
import { removeTree } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import { removeIfEmpty } from '../io/remove-if-empty.ts'
import {
  checkReplaceable,
  copyBeside,
  discardDraft,
  type ForeignFile,
  readForeignFile,
  removeForeignFile,
  replaceForeignFile,
} from '../io/replace-file.ts'
import { sha256 } from '../io/sha256.ts'
import { type Receipt, readReceipt, removeReceipt, writeReceipt } from './receipt.ts'

/** A planned change of one file. Nothing has been written yet. */
export interface HookFileChange {
  readonly file: ForeignFile
  /** null: remove the file. Unchanged text: nothing to do. */
  readonly after: string | null
  /** Content before any install, for the receipt; null when there was no file. */
  readonly original: string | null
  readonly receipt: Receipt | null
  /** What the hooks start; absent for an uninstall. */
  readonly command?: HookCommand
}

/** Throws for a file that cannot be read or must not be written, before anything is changed. */
export function planInstall(
  installer: HookInstaller,
  where: { readonly scope: HookScope; readonly place: HookPlace; readonly command: HookCommand },
): HookFileChange {
  const { scope, place, command } = where
  const install = (text: string | null): string => installer.install(text, command)
  return { ...planText({ ...installer, install }, { scope, place }), command }
}

/** What writes one text into one file. */
export type FileInstaller = Pick<HookInstaller, 'agent' | 'files' | 'uninstall'> & {
  install(text: string | null): string
}

export function planText(
  installer: FileInstaller,
  { scope, place }: { readonly scope: HookScope; readonly place: HookPlace },
): HookFileChange {
  const file = fileOf(installer, scope, place)
  const after = named(file, () => installer.install(file.text))
  const receipt = readReceipt(place.env, file.real)
  if (after !== file.text) checkReplaceable(file)
  return { file, after, receipt, original: named(file, () => withoutOurs(installer, file, receipt)) }
}

/** The original bytes if the file was not changed since; otherwise the current text without our hooks. */
export function planUninstall(
  installer: Omit<FileInstaller, 'install'>,
  scope: HookScope,
  place: HookPlace,
): HookFileChange {
  const file = fileOf(installer, scope, place)
  const receipt = readReceipt(place.env, file.real)
  const after = named(file, () => withoutOurs(installer, file, receipt))
  if (after !== file.text) checkReplaceable(file)
  return { file, after, receipt, original: after }
}

/** Whether the file is byte for byte what we wrote. */
export function isAsWritten({ text }: ForeignFile, receipt: Receipt | null): boolean {
  return receipt !== null && text !== null && receipt.written.includes(sha256(text))
}

function fileOf(installer: Omit<FileInstaller, 'install'>, scope: HookScope, place: HookPlace): ForeignFile {
  const [path] = installer.files(scope, place)
  if (path === undefined) throw new Error(`${installer.agent} names no file for the scope ${scope}`)
  return readForeignFile(path)
}

function withoutOurs(
  installer: Omit<FileInstaller, 'install'>,
  file: ForeignFile,
  receipt: Receipt | null,
): string | null {
  if (file.text === null || file.text.trim() === '') return file.text
  if (receipt !== null && isAsWritten(file, receipt)) return receipt.original
  const rest = installer.uninstall(file.text)
  // A file that existed before us is kept, whatever its content.
  const original = receipt?.original ?? null
  return rest === null && original !== null ? (original.trim() === '' ? original : '{}\n') : rest
}

/** An installer knows only the text. The user needs the path. */
function named<T>({ path }: ForeignFile, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof GantryError) || error.at === undefined) throw error
    const { code, message, hint, at } = error
    throw new GantryError(code, message, defined({ at: { ...at, file: path }, cause: error, hint }))
  }
}

interface ApplyContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
}

interface Applied {
  /** Copy of the original file, if there was one. */
  readonly backup: string | null
}

/**
 * Receipt, backup, file, in this order: if the process is killed in between nothing is lost, and the next install or uninstall continues
 * from the receipt.
 */
export function applyInstall(change: HookFileChange, { env, clock = systemClock }: ApplyContext): Applied {
  const { file, after, original, receipt, command } = change
  if (after === null || after === file.text) return { backup: null }
  const backup = file.text === null ? null : (usableBackup(change) ?? freeBackupName(file.real, clock))
  writeReceipt(env, {
    path: file.real,
    original,
    written: [...(isAsWritten(file, receipt) ? [sha256(file.text ?? '')] : []), sha256(after)],
    directories: receipt?.directories ?? missingDirectories(dirname(file.real)),
    backups: [...new Set([...(receipt?.backups ?? []), ...(backup === null ? [] : [backup])])],
    ...(command !== undefined && { command }),
  })
  if (backup !== null && pathKind(backup) === null) copyBeside(file, backup)
  replaceForeignFile(file, after)
  return { backup }
}

/** Removes directories, copies and the receipt too, but the copies only if the file is the original again. */
export function applyUninstall(change: HookFileChange, { env }: ApplyContext) {
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

/** The copy made by an install that was killed before it wrote the file. */
function usableBackup({ file, receipt }: HookFileChange): string | null {
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
