import { z } from 'zod'
import { readPieces, readTextInside, resolveInside } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import type { Gate, GateContext, GateFinding } from './contract.ts'
import { tail } from './excerpt.ts'
import { description, pattern, substring, workspacePath } from './fields.ts'
import { searchFor } from './search-for.ts'

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
  check: checkText,
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
  check: checkText,
} satisfies Gate<z.output<typeof matchesSchema>>

async function checkText(
  spec: z.output<typeof containsSchema> | z.output<typeof matchesSchema>,
  { workspace }: GateContext,
): Promise<GateFinding> {
  const { path } = spec
  const search = searchFor(spec)
  const fail = (message: string, detail: GateFinding['detail'] = {}): GateFinding => ({
    passed: false,
    message,
    detail: { path, ...detail },
  })
  if (search.kind === 'bad') return fail(search.message, search.detail)
  const file = readTextInside(workspace, path, { maxBytes: pieceBytes })
  switch (file.kind) {
    case 'text':
    case 'too_large': {
      const { found, end } = searchIn(
        file.kind === 'text' ? [file.text] : readPieces(file.path, pieceBytes),
        search.find,
      )
      const message = `${path} ${search.said(found)}`
      const detail = search.detail(found)
      return found === null
        ? fail(message, { ...detail, file_tail: tail(end) })
        : { passed: true, message, detail: { path, ...detail } }
    }
    case 'outside':
      return fail(`'${path}' is not read: ${file.reason}`)
    case 'missing':
      return fail(`${path} does not exist`)
    case 'not_a_file':
      return fail(`${path} is ${file.what}, not a file`)
    case 'unreadable':
      return fail(`${path} cannot be read: ${file.reason}`)
  }
}

/** A large file is searched piece by piece. */
const pieceBytes = 4 * 1024 * 1024
/** What is found may be this long where two pieces of a large file meet. */
const overlapChars = 1024 * 1024

/** `end`: the last part of a text in which nothing was found. */
function searchIn(pieces: Iterable<string>, find: (text: string) => string | null) {
  let end = ''
  for (const piece of pieces) {
    end = end.slice(-overlapChars) + piece
    const found = find(end)
    if (found !== null) return { found, end }
  }
  return { found: null, end }
}
