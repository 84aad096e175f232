import { translateFsError } from '../../io/files.ts'
import { joinPath, listDirectory, showPath } from '../../io/list-directory.ts'
import { type CaseProblem, problem, problemOf } from './case-problem.ts'

export interface PlainListing {
  readonly files: readonly string[]
  readonly directories: readonly string[]
  /** Links, and that the directory could not be looked into. */
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
