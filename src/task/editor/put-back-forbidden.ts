import { join } from 'node:path'
import type { TaskTree } from '../tree/open-tree.ts'
import type { EditorWriteLimits } from './write-limits.ts'

export interface PutBack {
  readonly path: string
  readonly why: string
  /** git cannot name it, so it stays as it is. */
  readonly isLeft: boolean
}

/** What the Editor changed where it must not, however it got there, is as it was in `before` afterwards. */
export async function putBackForbidden(
  tree: TaskTree,
  writeLimits: Pick<EditorWriteLimits, 'whyRefused'>,
  before: string,
  /** Given everything that changed since, before anything of it goes: a person's own work may be in it. */
  keep: (patch: Uint8Array) => void,
): Promise<readonly PutBack[]> {
  const now = await tree.take()
  const changed = await tree.changes(before, now)
  const forbidden = changed.flatMap((path) => {
    const why = whyForbidden(tree.root, path, writeLimits)
    return why === null ? [] : [{ path, why }]
  })
  if (forbidden.length > 0) keep(await tree.patch(before, now))
  const left = await tree.putBack(
    before,
    forbidden.map(({ path }) => path),
  )
  return forbidden.map((each) => ({ ...each, isLeft: left.includes(each.path) }))
}

/** A file that is reached through a link counts by where it leads; a link by itself only by where it stands. */
function whyForbidden(
  root: string,
  path: string,
  { whyRefused }: Pick<EditorWriteLimits, 'whyRefused'>,
): string | null {
  const parent = join(root, path, '..')
  const inParent = parent === root ? null : whyRefused(parent)
  return inParent ?? whyRefused(join(root, path))
}
