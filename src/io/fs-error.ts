import { type ErrorCode, GantryError } from '../core/error.ts'

export interface ErrorMeaning {
  readonly code: ErrorCode
  readonly text: string
  readonly hint: string
}

const noSpace = 'Free some space, or point AGENT_ARTIFACT_DIR at another disk.'
const notAllowed = 'Check owner and permissions, or choose another directory.'
const notThere = 'Choose another path.'

const meanings = new Map<string, ErrorMeaning>([
  ['ENOSPC', { code: 'NO_SPACE', text: 'no space left on the disk', hint: noSpace }],
  ['EDQUOT', { code: 'NO_SPACE', text: 'the disk quota is used up', hint: noSpace }],
  [
    'EFBIG',
    { code: 'NO_SPACE', text: 'the file would pass the size limit', hint: 'Raise the limit (ulimit -f).' },
  ],
  ['EACCES', { code: 'NOT_WRITABLE', text: 'permission denied', hint: notAllowed }],
  ['EPERM', { code: 'NOT_WRITABLE', text: 'operation not permitted', hint: notAllowed }],
  ['EROFS', { code: 'NOT_WRITABLE', text: 'the file system is read-only', hint: notAllowed }],
  ['ENOTDIR', { code: 'NOT_WRITABLE', text: 'a parent of it is not a directory', hint: notThere }],
  ['EEXIST', { code: 'NOT_WRITABLE', text: 'something else is in its place', hint: notThere }],
  ['EISDIR', { code: 'NOT_WRITABLE', text: 'it is a directory', hint: notThere }],
  ['ENAMETOOLONG', { code: 'NOT_WRITABLE', text: 'the name is too long', hint: notThere }],
  ['ELOOP', { code: 'NOT_WRITABLE', text: 'its links form a loop', hint: notThere }],
  ['EMFILE', { code: 'NOT_WRITABLE', text: 'too many open files', hint: 'Raise the limit (ulimit -n).' }],
  ['ENFILE', { code: 'NOT_WRITABLE', text: 'too many open files', hint: 'Close other programs.' }],
])

/**
 * A file system error as a GantryError. `what` follows "cannot": `translateFsError(cause, 'write a.txt')`. Other errors are returned
 * unchanged.
 */
export function translateFsError(cause: unknown, what: string): unknown {
  const meaning = meanings.get(errnoOf(cause) ?? '')
  if (meaning === undefined) return cause
  return new GantryError(meaning.code, `cannot ${what}: ${meaning.text}`, { hint: meaning.hint, cause })
}

/** The code, such as `ENOENT`; undefined when it is not a system error. */
export function errnoOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}

/** The result of the work. A file system error is thrown as `translateFsError` says it. */
export function translated<T>(what: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw translateFsError(cause, what)
  }
}

/** The result, or undefined when the system refuses with one of these codes. */
export function allowing<T>(codes: readonly string[], work: () => T): T | undefined {
  try {
    return work()
  } catch (cause) {
    if (codes.includes(errnoOf(cause) ?? '')) return undefined
    throw cause
  }
}

/** Whether the work could be done: false when the system refuses with one of these codes. */
export function isDone(codes: readonly string[], work: () => void): boolean {
  return (
    allowing(codes, () => {
      work()
      return true
    }) ?? false
  )
}

/** The result, or `otherwise` when anything is thrown. */
export function orElse<T, U>(otherwise: U, work: () => T): T | U {
  try {
    return work()
  } catch {
    return otherwise
  }
}
