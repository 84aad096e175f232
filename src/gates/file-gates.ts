import { z } from 'zod'
import { compilePattern } from '../core/pattern.ts'
import { resolveInside } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import type { Gate } from './contract.ts'
import { excerpt, tail } from './excerpt.ts'
import { description, pattern, substring, workspacePath } from './fields.ts'
import { searchWorkspaceFile } from './read-workspace-file.ts'

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
