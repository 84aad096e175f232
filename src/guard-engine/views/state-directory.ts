import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { asInteger, parseObject } from '../../core/json-fields.ts'
import { namesIn } from '../../io/directory.ts'
import { isDirectory, pathKind } from '../../io/path-kind.ts'
import { type Head, readHead } from '../../io/read-head.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { resolveLinks } from '../../io/resolve-links.ts'

/** The directory of the views. */
export type StateDirectory =
  | {
      readonly kind: 'usable'
      /** Absolute. Without links below the project. */
      readonly path: string
      /** Relative to the project, with slashes; null when it is outside. */
      readonly below: string | null
    }
  /** No view is written, and nothing there belongs to the guard. `reason` ends a sentence. */
  | { readonly kind: 'refused'; readonly reason: string }

const usual = '.harness'

/**
 * Where `state.dir` leads. `root` is the real path of the project. A directory outside of it was chosen by the user, because project files
 * cannot name one (`stateDirProblem`). Inside, no link is followed out of the project. The directory must be for the views alone: not the
 * project, not git's, and not one with other files.
 */
export function stateDirectory(root: string, stateDir: string): StateDirectory {
  const named = resolve(root, stateDir)
  const place = isBelow(root, named) ? insideOf(root, relative(root, named)) : elsewhere(root, named)
  return place.kind === 'usable' && !isForViews(place.path)
    ? refused('it contains files that do not belong to the guard')
    : place
}

/** The state directory if it is in the project, because it is not part of the work. */
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
    ? refused('it belongs to git')
    : { kind: 'usable', path: real, below: null }
}

function usable(path: string, below: string): StateDirectory {
  const steps = below.split(sep)
  if (below === '') return refused('it is the project itself')
  return steps.some(isGit) ? refused('it belongs to git') : { kind: 'usable', path, below: steps.join('/') }
}

/** Whether it has the name that only the guard and the older harness use. */
export function isUsual(directory: string): boolean {
  return basename(directory) === usual
}

function refused(reason: string): StateDirectory {
  return { kind: 'refused', reason }
}

function isBelow(directory: string, path: string): boolean {
  return path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`)
}

/** New, empty, with the default name, or with a file in it that only the guard creates. */
function isForViews(path: string): boolean {
  if (isUsual(path) || pathKind(path) === null) return true
  if (!isDirectory(path)) return false
  return (
    ignoresItself(path) ||
    isOwnState(readShortText(join(path, viewFiles.state), maxStateBytes) ?? '') ||
    isOwnTrace(join(path, viewFiles.trace)) === true ||
    isEmpty(path)
  )
}

/** For an unreadable directory, the write will fail and be reported. */
function isEmpty(path: string): boolean {
  try {
    return namesIn(path).length === 0
  } catch (cause) {
    if (cause instanceof GantryError) return true
    throw cause
  }
}

const maxStateBytes = 1024 * 1024

/** The files of the guard in the state directory. */
export const viewFiles = {
  state: 'state.json',
  edits: 'edit-tracker.json',
  trace: 'trace-log.jsonl',
  ignore: '.gitignore',
} as const

export type WrittenView = typeof viewFiles.state | typeof viewFiles.edits

export const maxViewBytes: number = 64 * 1024 * 1024

/** Keeps the views out of commits. */
export const ignoreText = '*\n'

/** Whether it is the name of a view, of a rotated trace, or of a temporary file of a view. */
export function isViewFile(name: string): boolean {
  return /^(?:state\.json|edit-tracker\.json|trace-log(?:\.\d)?\.jsonl)(?:\.lock)?(?:\.[0-9a-z]+\.tmp)?$/.test(
    name,
  )
}

export function ignoresItself(directory: string): boolean {
  return readShortText(join(directory, viewFiles.ignore), ignoreText.length) === ignoreText
}

/** Whether writing the view destroys nothing: the path is missing, a view, or a link, which is replaced. */
export function mayReplace(name: WrittenView, found: Head): boolean {
  if (found.kind !== 'text') return found.kind !== 'other'
  // A power failure leaves empty files.
  return found.text === '' || (name === viewFiles.state ? isOwnState : isOwnTracker)(found.text)
}

/**
 * Recognized by its shape, ours or the older harness's. An empty object, or a state without `session_id`, is one that was never filled. Any
 * other `state.json` belongs to someone else.
 */
function isOwnState(text: string): boolean {
  const state = parseObject(text)
  if (state === null) return false
  const { verification_status: status, phase } = state
  if (!('session_id' in state))
    return (
      Object.keys(state).every((key) => stateKeys.has(key)) &&
      /^(?:undefined|idle|executing)$/.test(`${phase}`)
    )
  return typeof status === 'object' && status !== null && typeof phase === 'string'
}

const stateKeys = new Set(
  `session_id started_at phase current_task tasks_completed tasks_remaining iteration verification_status tdd_phase context_injected
  last_compacted_at discovered_verification_commands has_test_infra`.split(/\s+/),
)

/** Only counts. If the guard wrote it, the first line is enough: parsing many files would be slow. */
function isOwnTracker(text: string): boolean {
  if (/^\{\n {2}"\/[^\n"]*": \d+,?\n/.test(text.slice(0, maxFirstLine))) return true
  const counts = parseObject(text)
  return counts !== null && Object.values(counts).every((count) => (asInteger(count) ?? -1) >= 0)
}

/** Whether the file begins like a trace, possibly with a torn first line. null when it is missing or a link, which is replaced. */
export function isOwnTrace(path: string): boolean | null {
  const head = readHead(path, traceStart.length + 16)
  if (head.kind === 'missing' || head.kind === 'link') return null
  if (head.kind === 'other') return false
  const text = head.text.replaceAll(/[\s\0]/g, '')
  return text.startsWith(traceStart) || traceStart.startsWith(text)
}

const maxFirstLine = 5000
const traceStart = '{"timestamp":"'

/** Why a project file may not name this directory; null when it may. Links are checked when the directory is used. */
export function stateDirProblem(stateDir: string): string | null {
  if (isAbsolute(stateDir))
    return 'must be relative: only HARNESS_STATE_DIR and the guard’s home may name one outside the project'
  const steps: string[] = []
  for (const step of stateDir.split(/[\\/]/)) {
    if (step === '' || step === '.') continue
    if (step !== '..') steps.push(step)
    else if (steps.pop() === undefined) return 'must not lead out of the project'
  }
  if (steps.length === 0) return 'must be a directory in the project, not the project itself'
  return steps.some(isGit) ? 'must not belong to git' : null
}

/** Some file systems ignore case. */
function isGit(step: string): boolean {
  return step.toLowerCase() === '.git'
}

/** For the user: why views are not written to the configured directory; null when they are. */
export function viewsProblem(root: string, stateDir: string): string | null {
  const where = stateDirectory(root, stateDir)
  if (where.kind === 'refused')
    return `The views of the guard are not written: the state directory ${stateDir} is not used because ${where.reason}.`
  const written = [viewFiles.state, viewFiles.edits].filter(
    (name) => !mayReplace(name, readHead(join(where.path, name), maxViewBytes)),
  )
  const trace = isOwnTrace(join(where.path, viewFiles.trace)) === false ? [viewFiles.trace] : []
  const foreign = [...written, ...trace]
  if (foreign.length === 0) return templateProblem(root)
  return `These files in the state directory ${stateDir} are not views of the guard and are not overwritten: ${foreign.join(', ')}. Move them away, or set state.dir to another directory.`
}

const templatePath = 'harness/templates/state.json.template'

/** The original harness filled `state.json` from a template. Here it is derived from the ledger, so an own template would have no effect. */
function templateProblem(root: string): string | null {
  const text = readShortText(join(root, templatePath), maxStateBytes)
  if (text === null || isOwnState(text)) return null
  return `${templatePath} is not used: state.json shows the guard's ledger and has fixed keys. Remove the template, and keep values of your own in another file.`
}
