import { resolve } from 'node:path'
import type { HookPlace } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { findRoot } from '../guard-engine/ledger/ledger-place.ts'
import { homeDirectory } from '../io/host.ts'
import { isDirectory } from '../io/path-kind.ts'

/** The project around a directory, and whose hooks its agents have. */
export function guardPlace({
  cwd,
  root = '.',
  env,
}: {
  readonly cwd: string
  readonly root?: string | undefined
  readonly env: HookPlace['env']
}): HookPlace {
  const directory = resolve(cwd, root)
  if (!isDirectory(directory)) {
    throw new GantryError('NOT_FOUND', `${directory} is not a directory`, {
      hint: 'Name the project with --root DIR.',
    })
  }
  return { root: findRoot(directory), home: homeDirectory(env), env }
}
