import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { isObject } from '../../core/json-fields.ts'
import { namesIn } from '../../io/directory.ts'
import { isDirectory, pathKind } from '../../io/path-kind.ts'
import { type Head, readHead } from '../../io/read-head.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { resolveLinks } from '../../io/resolve-links.ts'

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

/** What the guard keeps in the state directory. */
export const viewFiles = {
  state: 'state.json',
  edits: 'edit-tracker.json',
  trace: 'trace-log.jsonl',
  ignore: '.gitignore',
} as const

export type WrittenView = typeof viewFiles.state | typeof viewFiles.edits

export const maxViewBytes: number = 64 * 1024 * 1024

/** Views are nobody's work: they should not turn up in a commit by accident. */
export const ignoreText = '*\n'

/** Is it the name of a view, of an older trace, or of what is there for a moment while one is written? */
export function isViewFile(name: string): boolean {
  return /^(?:state\.json|edit-tracker\.json|trace-log(?:\.\d)?\.jsonl)(?:\.lock)?(?:\.[0-9a-z]+\.tmp)?$/.test(
    name,
  )
}

export function ignoresItself(directory: string): boolean {
  return readShortText(join(directory, viewFiles.ignore), ignoreText.length) === ignoreText
}

/** Nothing of anybody's is lost by writing the view: nothing is there, or a view, or a link, which is not written through. */
export function mayReplace(name: WrittenView, found: Head): boolean {
  if (found.kind !== 'text') return found.kind !== 'other'
  // A machine that lost its power leaves empty files.
  return found.text === '' || (name === viewFiles.state ? isOwnState : isOwnTracker)(found.text)
}

/** By its shape, the guard's or the older harness's: whatever else is called `state.json` is somebody's. */
function isOwnState(text: string): boolean {
  const state = objectIn(text)
  if (state === null || !('session_id' in state)) return false
  const { verification_status: status, phase } = state as Readonly<Record<string, unknown>>
  return typeof status === 'object' && status !== null && typeof phase === 'string'
}

/** Counts and nothing else. As the guard writes it, the first line is enough: with many files there is much to parse. */
function isOwnTracker(text: string): boolean {
  if (/^\{\n {2}"\/[^\n"]*": \d+,?\n/.test(text.slice(0, maxFirstLine))) return true
  const counts = objectIn(text)
  return counts !== null && Object.values(counts).every((count) => Number.isSafeInteger(count) && count >= 0)
}

/**
 * Does what lies there begin like a trace? A log whose first line was cut short does as well. null when there is nothing, or
 * a link, which is replaced.
 */
export function isOwnTrace(path: string): boolean | null {
  const head = readHead(path, traceStart.length + 16)
  if (head.kind === 'missing' || head.kind === 'link') return null
  if (head.kind === 'other') return false
  const text = head.text.replaceAll(/[\s\0]/g, '')
  return text.startsWith(traceStart) || traceStart.startsWith(text)
}

const maxFirstLine = 5000
const traceStart = '{"timestamp":"'

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Why a file of the project may not name this directory; null when it may. Where links lead is looked at when it is used. */
export function stateDirProblem(stateDir: string): string | null {
  if (isAbsolute(stateDir))
    return 'must be relative: one outside the project counts in HARNESS_STATE_DIR and in the guard’s home only'
  const steps: string[] = []
  for (const step of stateDir.split(/[\\/]/)) {
    if (step === '' || step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.pop() === undefined) return 'must not lead out of the project'
  }
  if (steps.length === 0) return 'must be a directory in the project, not the project itself'
  return steps.some(isGit) ? 'must not be git’s own' : null
}

/** Some file systems take upper and lower case for the same. */
function isGit(step: string): boolean {
  return step.toLowerCase() === '.git'
}

/** For people: why views are not written where the settings want them; null when they are. */
export function viewsProblem(root: string, stateDir: string): string | null {
  const where = stateDirectory(root, stateDir)
  if (where.kind === 'refused')
    return `The views of the guard are not written: the state directory ${stateDir} is not used, because ${where.reason}.`
  const written = [viewFiles.state, viewFiles.edits].filter(
    (name) => !mayReplace(name, readHead(join(where.path, name), maxViewBytes)),
  )
  const trace = isOwnTrace(join(where.path, viewFiles.trace)) === false ? [viewFiles.trace] : []
  const foreign = [...written, ...trace]
  if (foreign.length === 0) return null
  return `In the state directory ${stateDir} these are no views of the guard and stay as they are: ${foreign.join(', ')}. Move them away, or set state.dir to another directory.`
}
