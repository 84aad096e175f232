import { formatPosition, GantryError, nullAfterError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { translateFsError } from '../../io/files.ts'
import { joinPath, listDirectory, showPath } from '../../io/list-directory.ts'
import { type InsideText, readTextInside } from '../../io/read-text-inside.ts'

/**
 * Files and directories of a directory of cases, by name. Links are never followed, because Claude Code rejects them too: they are
 * problems, and so is an unreadable directory.
 */
export function listPlain(directory: string) {
  try {
    const entries = listDirectory(directory)
    const named = (fits: (entry: (typeof entries)[number]) => boolean) =>
      entries
        .filter(fits)
        .map(({ name }) => showPath(name))
        .sort()
    return {
      files: named((entry) => entry.isFile()),
      directories: named((entry) => entry.isDirectory()),
      problems: entries
        .filter((entry) => entry.isSymbolicLink())
        .map(({ name }) => linkProblem(showPath(joinPath(directory, name)))),
    }
  } catch (cause) {
    const error = translateFsError(cause, `read ${directory}`)
    return { files: [], directories: [], problems: [problemOf(error, directory)] }
  }
}

function linkProblem(path: string): CaseProblem {
  return problem(
    'error',
    path,
    'is a link: cases are plain files and directories',
    'Put a copy there instead.',
  )
}

const usualBytes = 1024 * 1024

/** A text file of a case; null when it does not exist. Throws GantryError when it is not a text of reasonable length. */
export function readCaseText(dir: string, name: string, maxBytes = usualBytes): string | null {
  const file = `${dir}/${name}`
  const read = readTextInside(dir, name, { maxBytes })
  const why = whyUnusable(read, maxBytes)
  if (why !== null) throw new GantryError('INVALID_FILE', `${file}: ${why}`, { at: { file } })
  return read.kind === 'text' ? read.text : null
}

/** null for a text, and for a file that does not exist. */
export function whyUnusable(read: InsideText, maxBytes: number): string | null {
  switch (read.kind) {
    case 'text':
      return read.text.includes('\0') ? 'is not a text file' : null
    case 'missing':
      return null
    case 'outside':
      return `must not be read: ${read.reason}`
    case 'not_a_file':
      return `is ${read.what}, not a file`
    case 'too_large':
      return `is larger than ${maxBytes / 1024} KiB`
    case 'unreadable':
      return `cannot be read: ${read.reason}`
  }
}

/** Like readCaseText, but null also for an unusable file. */
export function usableCaseText(dir: string, name: string, maxBytes = usualBytes): string | null {
  return nullAfterError(() => readCaseText(dir, name, maxBytes))
}

export interface CaseProblem {
  /** `error`: the case is skipped. `warning`: it is used, but a part of it has no effect or another effect. */
  readonly severity: 'error' | 'warning'
  /** Absolute. */
  readonly path: string
  /** Begins with `file:line:col` if the position is known. */
  readonly message: string
  readonly hint?: string
}

/** The problem of a file. Anything but a GantryError is a bug and is thrown again. */
export function problemOf(error: unknown, path: string): CaseProblem {
  if (!(error instanceof GantryError)) throw error
  return defined({ severity: 'error', path, message: error.message, hint: error.hint })
}

export function problem(
  severity: CaseProblem['severity'],
  path: string,
  message: string,
  hint?: string,
): CaseProblem {
  const text = `${formatPosition({ file: path })}: ${message}`
  return { severity, path, message: text, ...(hint !== undefined && { hint }) }
}
