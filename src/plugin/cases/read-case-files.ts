import { GantryError } from '../../core/error.ts'
import { translateFsError } from '../../io/files.ts'
import { joinPath, listDirectory, showPath } from '../../io/list-directory.ts'
import { readTextInside } from '../../io/read-text-inside.ts'
import { type CaseProblem, problem, problemOf } from './case-problem.ts'

export interface PlainListing {
  readonly files: readonly string[]
  readonly directories: readonly string[]
  /** Links, or that the directory cannot be read. */
  readonly problems: readonly CaseProblem[]
}

/**
 * Files and directories of a directory of cases, by name. Links are not followed, wherever they lead: Claude Code refuses them, too.
 */
export function listPlain(directory: string): PlainListing {
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
  const path = `${dir}/${name}`
  const read = readTextInside(dir, name, { maxBytes })
  const refuse = (why: string): GantryError =>
    new GantryError('INVALID_FILE', `${path}: ${why}`, { at: { file: path } })
  switch (read.kind) {
    case 'text':
      if (read.text.includes('\0')) throw refuse('is not a text file')
      return read.text
    case 'missing':
      return null
    case 'outside':
      throw refuse(`it may not be read: ${read.reason}`)
    case 'not_a_file':
      throw refuse(`is ${read.what}, not a file`)
    case 'too_large':
      throw refuse(`is larger than ${maxBytes / 1024 / 1024} MiB`)
    case 'unreadable':
      throw refuse(`cannot be read: ${read.reason}`)
  }
}

/** Like readCaseText, but null also for an unusable file. */
export function usableCaseText(dir: string, name: string, maxBytes = usualBytes): string | null {
  try {
    return readCaseText(dir, name, maxBytes)
  } catch (error) {
    if (error instanceof GantryError) return null
    throw error
  }
}
