import { z } from 'zod'
import { compilePattern } from '../core/pattern.ts'
import type { Gate } from './contract.ts'
import { excerpt, tail } from './excerpt.ts'
import { description, pattern, workspacePath } from './fields.ts'
import { readWorkspaceFile } from './read-workspace-file.ts'

const schema = z
  .strictObject({
    type: z.literal('file_matches').describe('A file matches a regular expression.'),
    path: workspacePath,
    pattern,
    description,
  })
  .describe('Passes when the pattern is found in the text of the file.')

export const fileMatches = {
  type: 'file_matches',
  schema,
  async check(spec, context) {
    const detail = { path: spec.path, pattern: spec.pattern }
    const compiled = compilePattern(spec.pattern)
    if (compiled.kind === 'bad')
      return { passed: false, message: `the pattern is invalid: ${compiled.message}`, detail }
    const file = readWorkspaceFile(spec.path, context)
    if (file.kind === 'broken') return file.finding
    const match = compiled.pattern.exec(file.text)
    const verb = match === null ? 'does not match' : 'matches'
    return {
      passed: match !== null,
      message: `${spec.path} ${verb} /${excerpt(spec.pattern, 200)}/`,
      detail: {
        ...detail,
        ...(match === null ? { file_tail: tail(file.text) } : { matched: excerpt(match.text) }),
      },
    }
  },
} satisfies Gate<z.output<typeof schema>>
