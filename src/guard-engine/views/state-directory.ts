import { basename, join, relative, resolve, sep } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { namesIn } from '../../io/directory.ts'
import { isDirectory, pathKind } from '../../io/path-kind.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { resolveLinks } from '../../io/resolve-links.ts'
import { ignoresItself, isOwnState, isOwnTrace, viewFiles } from './own-view.ts'
import { isGit } from './state-dir-problem.ts'

/** The directory the views are in, the same for everybody who asks. */
export type StateDirectory =
  | {
      readonly kind: 'usable'
      /** Absolute; below the project free of links. */
      readonly path: string
      /** Relative to the project, with slashes; null when it lies elsewhere. */
      readonly below: string | null
    }
  /** No view is written, and nothing there is the guard's. `reason` ends a sentence. */
  | { readonly kind: 'refused'; readonly reason: string }

const usual = '.harness'

/**
 * Where `state.dir` leads: `root` is the real path of the project. A directory outside of it is one the user chose, because
 * files of the project cannot name one (`stateDirProblem`); inside no link is followed out of it, whoever put it there. It is a
 * directory for the views alone: neither the project, nor git's, nor one that others keep their files in.
 */
export function stateDirectory(root: string, stateDir: string): StateDirectory {
  const named = resolve(root, stateDir)
  const place = isBelow(root, named) ? insideOf(root, relative(root, named)) : elsewhere(root, named)
  return place.kind === 'usable' && !isForViews(place.path)
    ? refused('it holds files that are not the guard’s')
    : place
}

/** What is not part of the work in the project: the directory, when it lies in it. */
export function viewsBelow(root: string, stateDir: string): readonly string[] {
  const state = stateDirectory(root, stateDir)
  return state.kind === 'usable' && state.below !== null ? [state.below] : []
}

function insideOf(root: string, below: string): StateDirectory {
  const where = resolveInside(root, below)
  if (where.kind === 'outside') return refused(where.reason)
  return usable(where.path, relative(root, where.path))
}

function elsewhere(root: string, named: string): StateDirectory {
  const { real } = resolveLinks(named)
  if (isBelow(root, real)) return insideOf(root, relative(root, real))
  if (real === root || isBelow(real, root)) return refused('the project is in it')
  return real.split(sep).some(isGit)
    ? refused('it is git’s own')
    : { kind: 'usable', path: real, below: null }
}

function usable(path: string, below: string): StateDirectory {
  const steps = below.split(sep)
  if (below === '') return refused('it is the project itself')
  return steps.some(isGit) ? refused('it is git’s own') : { kind: 'usable', path, below: steps.join('/') }
}

function refused(reason: string): StateDirectory {
  return { kind: 'refused', reason }
}

function isBelow(directory: string, path: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)
}

/** New, empty, of the usual name, or with something in it that only the guard leaves. */
function isForViews(path: string): boolean {
  if (basename(path) === usual || pathKind(path) === null) return true
  if (!isDirectory(path)) return false
  return (
    ignoresItself(path) ||
    isOwnState(readShortText(join(path, viewFiles.state), maxStateBytes) ?? '') ||
    isOwnTrace(join(path, viewFiles.trace)) === true ||
    isEmpty(path)
  )
}

/** Of a directory nobody may look into, writing will tell. */
function isEmpty(path: string): boolean {
  try {
    return namesIn(path).length === 0
  } catch (cause) {
    if (cause instanceof GantryError) return true
    throw cause
  }
}

const maxStateBytes = 1024 * 1024
