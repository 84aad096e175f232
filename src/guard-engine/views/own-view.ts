import { join } from 'node:path'
import { isObject } from '../../core/json-fields.ts'
import { type Head, readHead } from '../../io/read-head.ts'
import { readShortText } from '../../io/read-short-text.ts'

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
export function isOwnState(text: string): boolean {
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
