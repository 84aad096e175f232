import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { errnoOf, translateFsError } from './fs-error.ts'
import { quickId } from './quick-random.ts'

export { translateFsError } from './fs-error.ts'
export { listFiles } from './list-files.ts'
export { type InsideText, readTextInside } from './read-text-inside.ts'
export { removeTree } from './remove-tree.ts'
export { resolveInside } from './resolve-inside.ts'

let writerId = ''
let writes = 0

/**
 * Writes a file so that a reader sees the old content or the new, never half of it. Makes missing parents.
 * A link at `path` is replaced, not written through.
 */
export function writeFileAtomic(path: string, content: string | Uint8Array): void {
  // One random part per process and a counter: unique, without asking for randomness on every write.
  if (writerId === '') writerId = quickId(8)
  writes += 1
  const temporary = `${path}.${writerId}${writes}.tmp`
  try {
    writeNew(temporary, content)
    renameSync(temporary, path)
  } catch (cause) {
    discard(temporary)
    throw translateFsError(cause, `write ${path}`)
  }
}

export function writeJsonAtomic(path: string, value: unknown): void {
  writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** undefined when the file is not there; throws GantryError CORRUPT when it is no JSON. */
export function readJsonIfExists(path: string): unknown {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined
    throw translateFsError(cause, `read ${path}`)
  }
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    const hint = 'Restore or delete the file.'
    throw new GantryError('CORRUPT', `${path} is not valid JSON`, { hint, at: { file: path }, cause })
  }
}

/** The caller must get the reason of the failed write, not that there is nothing to clean up. */
function discard(temporary: string): void {
  try {
    rmSync(temporary, { force: true })
  } catch {}
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
