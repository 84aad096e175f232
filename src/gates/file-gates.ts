import { z } from 'zod'
import { compilePattern } from '../core/pattern.ts'
import { readPieces, readTextInside, resolveInside } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import type { Gate, GateContext, GateFinding } from './contract.ts'
import { excerpt, tail } from './excerpt.ts'
import { description, pattern, substring, workspacePath } from './fields.ts'

const existsSchema = z
  .strictObject({
    type: z.literal('file_exists').describe('A file or directory is there, or is not.'),
    path: workspacePath,
    exists: z.boolean().default(true).describe('false asks for the absence of the file.'),
    description,
  })
  .describe(
    'Passes when a file or directory exists at the path. A link that leads out of the workspace is not followed and fails.',
  )

export const fileExists = {
  type: 'file_exists',
  schema: existsSchema,
  async check({ path, exists }, { workspace }) {
    const where = resolveInside(workspace, path)
    if (where.kind === 'outside')
      return { passed: false, message: `'${path}' is not looked at: ${where.reason}`, detail: { path } }
    const kind = where.kind === 'missing' ? null : pathKind(where.path)
    const what =
      kind === null ? 'does not exist' : `exists (${kind === 'other' ? 'neither file nor directory' : kind})`
    return {
      passed: (kind !== null) === exists,
      message: `${path} ${what}`,
      detail: { path, kind: kind ?? 'missing' },
    }
  },
} satisfies Gate<z.output<typeof existsSchema>>

const containsSchema = z
  .strictObject({
    type: z.literal('file_contains').describe('A file contains a text.'),
    path: workspacePath,
    substring,
    description,
  })
  .describe('Passes when the text of the file contains the substring.')

export const fileContains = {
  type: 'file_contains',
  schema: containsSchema,
  async check(spec, context) {
    const file = searchWorkspaceFile(spec.path, context, (text) => text.includes(spec.substring) || null)
    if (file.kind === 'broken') return file.finding
    const passed = file.found !== null
    const verb = passed ? 'contains' : 'does not contain'
    return {
      passed,
      message: `${spec.path} ${verb} "${excerpt(spec.substring, 200)}"`,
      detail: {
        path: spec.path,
        substring: excerpt(spec.substring),
        ...(passed ? {} : { file_tail: tail(file.end) }),
      },
    }
  },
} satisfies Gate<z.output<typeof containsSchema>>

const matchesSchema = z
  .strictObject({
    type: z.literal('file_matches').describe('A file matches a regular expression.'),
    path: workspacePath,
    pattern,
    description,
  })
  .describe('Passes when the pattern is found in the text of the file.')

export const fileMatches = {
  type: 'file_matches',
  schema: matchesSchema,
  async check(spec, context) {
    const detail = { path: spec.path, pattern: spec.pattern }
    const compiled = compilePattern(spec.pattern)
    if (compiled.kind === 'bad')
      return { passed: false, message: `the pattern is invalid: ${compiled.message}`, detail }
    const file = searchWorkspaceFile(spec.path, context, (text) => compiled.pattern.exec(text))
    if (file.kind === 'broken') return file.finding
    const match = file.found
    const verb = match === null ? 'does not match' : 'matches'
    return {
      passed: match !== null,
      message: `${spec.path} ${verb} /${excerpt(spec.pattern, 200)}/`,
      detail: {
        ...detail,
        ...(match === null ? { file_tail: tail(file.end) } : { matched: excerpt(match.text) }),
      },
    }
  },
} satisfies Gate<z.output<typeof matchesSchema>>

type Searched<T> =
  /** `found` is null when nothing was found; `end` is the last part of the text then. */
  | { readonly kind: 'searched'; readonly found: T | null; readonly end: string }
  | { readonly kind: 'broken'; readonly finding: GateFinding }

const pieceBytes = 4 * 1024 * 1024
/** What is found may be this long where two pieces of a large file meet. */
const overlapChars = 1024 * 1024

/** Searches a file of the workspace, a large one piece by piece; or tells why the gate fails. */
function searchWorkspaceFile<T>(
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
