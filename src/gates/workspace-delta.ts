import picomatch from 'picomatch'
import { z } from 'zod'
import type { Gate, WorkspaceDelta } from './contract.ts'
import { shortList } from './excerpt.ts'
import { description } from './fields.ts'

const glob = z.string().min(1)

const entries = z.array(
  z.union([
    glob,
    z.strictObject({
      path: glob.describe('Glob of paths relative to the workspace.'),
      optional: z.boolean().default(false).describe('true: it may happen, but need not.'),
    }),
  ]),
)

const schema = z
  .strictObject({
    type: z.literal('workspace_delta').describe('The agent changed exactly what it should have changed.'),
    created: entries
      .optional()
      .describe('Globs of files the agent must create; no other file may be created.'),
    changed: entries
      .optional()
      .describe('Globs of files the agent must change; no other file may be changed.'),
    deleted: entries
      .optional()
      .describe('Globs of files the agent must delete; no other file may be deleted.'),
    allow: z
      .array(glob)
      .optional()
      .describe('Globs of files that may be touched in any way and need not be.'),
    forbid: z
      .array(glob)
      .optional()
      .describe('Globs of files that must not be touched, whatever the other keys say.'),
    description,
  })
  .describe(
    'Passes when the files that the agent created, changed and deleted match the lists exactly. A missing list means that no file of that kind is allowed. Globs match hidden files too; a trailing / stands for everything below.',
  )

type Spec = z.output<typeof schema>
type Kind = keyof WorkspaceDelta

const kinds: readonly Kind[] = ['created', 'changed', 'deleted']

export const workspaceDelta = {
  type: 'workspace_delta',
  needs: ['workspace_delta'],
  schema,
  async check(spec, context) {
    const delta = await context.delta()
    const { unexpected, missing, forbidden } = compare(spec, delta)
    const problems = [
      ...forbidden.map((path) => `forbidden: ${path}`),
      ...unexpected.map((path) => `unexpected: ${path}`),
      ...missing.map((path) => `missing: ${path}`),
    ]
    const counts = kinds.map((kind) => `${delta[kind].length} ${kind}`).join(', ')
    return {
      passed: problems.length === 0,
      message:
        problems.length === 0
          ? `the workspace changed as expected (${counts})`
          : shortList(problems, 5).join('; '),
      detail: {
        created: delta.created.length,
        changed: delta.changed.length,
        deleted: delta.deleted.length,
        unexpected: shortList(unexpected, 50),
        missing: shortList(missing, 50),
        forbidden: shortList(forbidden, 50),
      },
    }
  },
} satisfies Gate<Spec>

/** Each finding names its kind and its path: `created notes.md`. */
function compare(spec: Spec, delta: WorkspaceDelta) {
  const allowed = (spec.allow ?? []).map(matcher)
  const forbids = (spec.forbid ?? []).map(matcher)
  const unexpected: string[] = []
  const missing: string[] = []
  const forbidden: string[] = []
  for (const kind of kinds) {
    const expected = (spec[kind] ?? []).map((entry) => {
      const { path, optional } = typeof entry === 'string' ? { path: entry, optional: false } : entry
      return { path, optional, matches: matcher(path) }
    })
    for (const path of delta[kind]) {
      const known = [...expected.map(({ matches }) => matches), ...allowed]
      if (forbids.some((matches) => matches(path))) forbidden.push(`${kind} ${path}`)
      else if (!known.some((matches) => matches(path))) unexpected.push(`${kind} ${path}`)
    }
    for (const { path, optional, matches } of expected)
      if (!optional && !delta[kind].some((found) => matches(found))) missing.push(`${kind} ${path}`)
  }
  return { unexpected, missing, forbidden }
}

function matcher(pattern: string): (path: string) => boolean {
  const relative = pattern.replace(/^\.\//, '')
  const matches = picomatch(relative.endsWith('/') ? `${relative}**` : relative, { dot: true })
  // A name such as `notes [old].md` also matches literally.
  return (path) => path === relative || matches(path)
}
