import type { HookCommand, HookInstaller, HookPlace, HookScope } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { checkReplaceable, type ForeignFile, readForeignFile } from '../io/replace-file.ts'
import { sha256 } from '../io/sha256.ts'
import { type Receipt, readReceipt } from './receipt.ts'

/** What is to become of one file. Nothing has been touched yet. */
export interface Change {
  readonly file: ForeignFile
  /** null: the file goes. The same text: there is nothing to do. */
  readonly after: string | null
  /** How it was before any guard, for the receipt; null when there was no file. */
  readonly original: string | null
  readonly receipt: Receipt | null
}

/** Throws for a file that cannot be read or must not be written, before anything is changed anywhere. */
export function planInstall(
  installer: HookInstaller,
  {
    scope,
    place,
    command,
  }: { readonly scope: HookScope; readonly place: HookPlace; readonly command: HookCommand },
): Change {
  const file = fileOf(installer, scope, place)
  const after = named(file, () => installer.install(file.text, command))
  const receipt = readReceipt(place.env, file.real)
  if (after !== file.text) checkReplaceable(file)
  return { file, after, receipt, original: named(file, () => withoutOurs(installer, file, receipt)) }
}

/** To the byte as it was, when nobody changed it since; else without what is ours. */
export function planUninstall(installer: HookInstaller, scope: HookScope, place: HookPlace): Change {
  const file = fileOf(installer, scope, place)
  const receipt = readReceipt(place.env, file.real)
  const after = named(file, () => withoutOurs(installer, file, receipt))
  if (after !== file.text) checkReplaceable(file)
  return { file, after, receipt, original: after }
}

/** Is the file, to the byte, what we left there? */
export function isAsWritten({ text }: ForeignFile, receipt: Receipt | null): boolean {
  return receipt !== null && text !== null && receipt.written.includes(sha256(text))
}

function fileOf(installer: HookInstaller, scope: HookScope, place: HookPlace): ForeignFile {
  const [path] = installer.files(scope, place)
  if (path === undefined) throw new Error(`${installer.agent} names no file for the scope ${scope}`)
  return readForeignFile(path)
}

function withoutOurs(installer: HookInstaller, file: ForeignFile, receipt: Receipt | null): string | null {
  if (file.text === null || file.text.trim() === '') return file.text
  if (receipt !== null && isAsWritten(file, receipt)) return receipt.original
  const rest = installer.uninstall(file.text)
  // A file that was there before us stays, whatever became of its content.
  return rest === null && receipt !== null && receipt.original !== null ? '{}\n' : rest
}

/** An installer knows the text only; a person needs the path. */
function named<T>({ path }: ForeignFile, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof GantryError) || error.at === undefined) throw error
    const { code, message, hint, at } = error
    throw new GantryError(code, message, {
      at: { ...at, file: path },
      cause: error,
      ...(hint !== undefined && { hint }),
    })
  }
}
