import { basename, isAbsolute, join, sep } from 'node:path'
import { findGitTop } from '../../io/find-git-top.ts'
import { homeDirectory } from '../../io/host.ts'
import { realPath } from '../../io/resolve-links.ts'
import { sha256 } from '../../io/sha256.ts'

/** Where the ledgers of a project and of a session are. */
export interface LedgerPlace {
  /** Name below `projects`. */
  readonly name: string
  readonly directory: string
  /** Notes of people and of `guard verify`. They count in every session. */
  readonly project: string
  readonly session: string
  readonly checkpoint: string
  readonly proven: string
}

/** `root` is the real path of the project. A session id can be any text, so it is made safe for a file name. */
export function ledgerPlace(guardHome: string, root: string, session: string): LedgerPlace {
  const name = `${slug(basename(root), 40)}-${sha256(root).slice(0, 12)}`
  const directory = join(guardHome, 'projects', name)
  const file = `${slug(session, 48)}-${sha256(session).slice(0, 12)}`
  return {
    name,
    directory,
    project: `${directory}${sep}project.jsonl`,
    session: `${directory}${sep}sessions${sep}${file}.jsonl`,
    checkpoint: `${directory}${sep}checkpoints${sep}${file}.json`,
    proven: `${directory}${sep}checkpoints${sep}${file}.proven.json`,
  }
}

function slug(text: string, maxLength: number): string {
  const kept = text.slice(0, maxLength).replaceAll(/[^A-Za-z0-9_-]+/g, '-')
  return kept.replaceAll(/^-+|-+$/g, '') || 'x'
}

/** The directory of the guard's private files, outside every project. Relative values are ignored, as XDG requires. */
export function guardHome(env: Readonly<Record<string, string | undefined>>): string {
  const { GANTRY_GUARD_HOME: own = '', XDG_STATE_HOME: state = '' } = env
  if (isAbsolute(own)) return own
  return isAbsolute(state)
    ? join(state, 'gantry', 'guard')
    : join(homeDirectory(env), '.local', 'state', 'gantry', 'guard')
}

/**
 * The project of a directory: the top of its git working tree or linked worktree, or the directory itself without git. A real path, so that
 * a link to the project is the same project.
 */
export function findRoot(directory: string): string {
  const real = realPath(directory)
  return findGitTop(real) ?? real
}
