import { z } from 'zod'
import type { Gate } from './contract.ts'
import { excerpt, tail } from './excerpt.ts'
import { description, substring, workspacePath } from './fields.ts'
import { readWorkspaceFile } from './read-workspace-file.ts'

const schema = z
  .strictObject({
    type: z.literal('file_contains').describe('A file contains a text.'),
    path: workspacePath,
    substring,
    description,
  })
  .describe('Passes when the text of the file contains the substring.')

export const fileContains = {
  type: 'file_contains',
  schema,
  async check(spec, context) {
    const file = readWorkspaceFile(spec.path, context)
    if (file.kind === 'broken') return file.finding
    const passed = file.text.includes(spec.substring)
    const verb = passed ? 'contains' : 'does not contain'
    return {
      passed,
      message: `${spec.path} ${verb} "${excerpt(spec.substring, 200)}"`,
      detail: {
        path: spec.path,
        substring: excerpt(spec.substring),
        ...(passed ? {} : { file_tail: tail(file.text) }),
      },
    }
  },
} satisfies Gate<z.output<typeof schema>>
