import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { allowing, errnoOf, orElse, translated, translateFsError } from './fs-error.ts'
import { quickId } from './quick-random.ts'

export { translateFsError } from './fs-error.ts'
export { listFiles } from './list-files.ts'
export { type InsideText, readPieces, readTextInside } from './read-text-inside.ts'
export { removeTree } from './remove-tree.ts'
export { resolveInside } from './resolve-inside.ts'

let writerId = ''
let writes = 0

/**
 * Writes a file atomically: a reader sees the old or the new content. Creates missing parents.
 * A link at `path` is replaced, not written through.
 */
export function writeFileAtomic(path: string, content: string | Uint8Array): void {
  // A random part per process and a counter: unique without new randomness for every write.
  if (writerId === '') writerId = quickId(8)
  writes += 1
  const temporary = `${path}.${writerId}${writes}.tmp`
  try {
    writeNew(temporary, content)
    renameSync(temporary, path)
  } catch (cause) {
    // Without its own error, so the caller gets the reason of the failed write.
    orElse(undefined, () => rmSync(temporary, { force: true }))
    throw translateFsError(cause, `write ${path}`)
  }
}

export function writeJsonAtomic(path: string, value: unknown): void {
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** undefined when the file does not exist. Throws GantryError CORRUPT when it is not JSON. */
export function readJsonIfExists(path: string): unknown {
  const read = (): string => readFileSync(path, 'utf8')
  const text = translated(`read ${path}`, () => allowing(['ENOENT'], read))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    const hint = 'Restore or delete the file.'
    throw new GantryError('CORRUPT', `${path} is not valid JSON`, { hint, at: { file: path }, cause })
  }
}

function writeNew(path: string, content: string | Uint8Array): void {
  try {
    writeFileSync(path, content, { flag: 'wx' })
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause
    makeDirectories(dirname(path))
    writeFileSync(path, content, { flag: 'wx' })
  }
}
