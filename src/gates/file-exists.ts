import { z } from 'zod'
import { resolveInside } from '../io/files.ts'
import { pathKind } from '../io/path-kind.ts'
import type { Gate } from './contract.ts'
import { description, workspacePath } from './fields.ts'

const schema = z
  .strictObject({
    type: z.literal('file_exists').describe('A file or directory is there, or is not.'),
    path: workspacePath,
    exists: z.boolean().default(true).describe('false asks for the absence of the file.'),
    description,
  })
  .describe(
    'Passes when something stands at the path: a file or a directory. A link that leads out of the workspace is not followed and fails.',
  )

export const fileExists = {
  type: 'file_exists',
  schema,
  async check({ path, exists }, { workspace }) {
    const where = resolveInside(workspace, path)
    if (where.kind === 'outside')
      return { passed: false, message: `${path} is not looked at: ${where.reason}`, detail: { path } }
    const kind = where.kind === 'missing' ? null : pathKind(where.path)
    const what =
      kind === null ? 'does not exist' : `exists (${kind === 'other' ? 'neither file nor directory' : kind})`
    return {
      passed: (kind !== null) === exists,
      message: `${path} ${what}`,
      detail: { path, kind: kind ?? 'missing' },
    }
  },
} satisfies Gate<z.output<typeof schema>>
