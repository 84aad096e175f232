import fs from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf } from './fs-error.ts'
import { resolveInside } from './resolve-inside.ts'

/** `reason` is a sentence about the caller's mistake. */
export type InsideChange = { readonly kind: 'done' } | { readonly kind: 'refused'; readonly reason: string }

/**
 * Writes a file below `root` in place, so its mode stays. Creates missing directories. Never follows a link that leads out, never
 * writes to anything but a plain file.
 */
export function writeTextInside(root: string, relative: string, text: string): InsideChange {
  const where = resolveInside(root, relative)
  if (where.kind === 'outside') return { kind: 'refused', reason: `${relative}: ${where.reason}` }
  return attempt(relative, () => {
    const fd = openForWriting(where.path)
    try {
      const stats = fs.fstatSync(fd)
      if (!stats.isFile()) throw new Error('it is not a plain file')
      if (stats.size > 0) fs.ftruncateSync(fd)
      fs.writeFileSync(fd, text)
    } finally {
      fs.closeSync(fd)
    }
  })
}

/** Deletes a file or a link below `root`; a directory is refused. */
export function deleteFileInside(root: string, relative: string): InsideChange {
  const where = resolveInside(root, relative)
  if (where.kind === 'outside') return { kind: 'refused', reason: `${relative}: ${where.reason}` }
  if (where.kind === 'missing') return { kind: 'refused', reason: `${relative} does not exist` }
  return attempt(relative, () => fs.unlinkSync(where.path))
}

/** Directories nearly always exist, so they are created only when the first try fails. */
function openForWriting(path: string): number {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const open = (): number => fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o666)
  try {
    return open()
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause
    fs.mkdirSync(dirname(path), { recursive: true })
    return open()
  }
}

function attempt(relative: string, change: () => void): InsideChange {
  try {
    change()
    return { kind: 'done' }
  } catch (cause) {
    return {
      kind: 'refused',
      reason: `${relative}: ${cause instanceof Error ? cause.message : String(cause)}`,
    }
  }
}
