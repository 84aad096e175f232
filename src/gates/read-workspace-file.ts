import { readPieces, readTextInside } from '../io/files.ts'
import type { GateContext, GateFinding } from './contract.ts'

export type Searched<T> =
  /** `found` is null when nothing was found; `end` is the last part of the text then. */
  | { readonly kind: 'searched'; readonly found: T | null; readonly end: string }
  | { readonly kind: 'broken'; readonly finding: GateFinding }

const pieceBytes = 4 * 1024 * 1024
/** What is found may be this long where two pieces of a large file meet. */
const overlapChars = 1024 * 1024

/** Searches a file of the workspace, a large one piece by piece; or tells why the gate fails. */
export function searchWorkspaceFile<T>(
  path: string,
  { workspace }: GateContext,
  find: (text: string) => T | null,
): Searched<T> {
  const file = readTextInside(workspace, path, { maxBytes: pieceBytes })
  switch (file.kind) {
    case 'text':
      return { kind: 'searched', found: find(file.text), end: file.text }
    case 'outside':
      return broken(path, `'${path}' is not read: ${file.reason}`)
    case 'missing':
      return broken(path, `${path} does not exist`)
    case 'not_a_file':
      return broken(path, `${path} is ${file.what}, not a file`)
    case 'too_large':
      return searchPieces(file.path, find)
    case 'unreadable':
      return broken(path, `${path} cannot be read: ${file.reason}`)
  }
}

function searchPieces<T>(path: string, find: (text: string) => T | null): Searched<T> {
  let text = ''
  for (const piece of readPieces(path, pieceBytes)) {
    text = text.slice(-overlapChars) + piece
    const found = find(text)
    if (found !== null) return { kind: 'searched', found, end: text }
  }
  return { kind: 'searched', found: null, end: text }
}

function broken(path: string, message: string): Searched<never> {
  return { kind: 'broken', finding: { passed: false, message, detail: { path } } }
}
