import { copyFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errnoOf, translateFsError } from './fs-error.ts'
import { quickId } from './quick-random.ts'

/** Atomically makes `path` a link to a file beside it, or a copy where the file system has no links. */
export function pointLink(path: string, target: string): void {
  const draft = `${path}.${quickId(8)}.tmp`
  try {
    linkOrCopy(draft, path, target)
    renameSync(draft, path)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw translateFsError(cause, `write ${path}`)
  }
}

function linkOrCopy(draft: string, path: string, target: string): void {
  try {
    symlinkSync(target, draft)
  } catch (cause) {
    if (!['EPERM', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP'].includes(errnoOf(cause) ?? '')) throw cause
    copyFileSync(join(dirname(path), target), draft)
  }
}
