import { GantryError } from '../core/error.ts'
import { exec } from './exec.ts'

export interface CommitPlace {
  readonly root: string
  /** Directories and files never to commit, relative to the top. */
  readonly leaveOut: readonly string[]
  /** Complete environment of git and its hooks. */
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Paths that differ from the last commit, staged or not, untracked ones included, ignored ones not. */
export async function uncommitted(place: CommitPlace): Promise<readonly string[]> {
  const flags = ['--porcelain', '-z', '--no-renames', '--untracked-files=all']
  const left = place.leaveOut.map((path) => `:(top,exclude,literal)${path}`)
  const { exitCode, stdout, stderr } = await git(place, ['status', ...flags, '--', '.', ...left])
  if (exitCode !== 0) throw refused(place, 'git status', stderr.text)
  return stdout.text
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => line.slice(3))
}

/**
 * Commits every change that is not ignored. Hooks and signing of the repository apply. Returns the commit id; null when there is
 * nothing to commit. Does not push.
 */
export async function commitAll(place: CommitPlace, message: string): Promise<string | null> {
  if ((await uncommitted(place)).length === 0) return null
  // Not with patterns that leave files out: git add fails when such a file is ignored.
  const added = await git(place, ['add', '--all', '--', '.'])
  if (added.exitCode !== 0) throw refused(place, 'git add', added.stderr.text)
  if (place.leaveOut.length > 0) {
    const unstaged = await git(place, ['reset', '--quiet', '--', ...place.leaveOut.map(literal)])
    if (unstaged.exitCode !== 0) throw refused(place, 'git reset', unstaged.stderr.text)
  }
  const flags = ['--quiet', '--cleanup=verbatim', '--no-status', '--file=-']
  const made = await git(place, ['commit', ...flags], `${message}\n`)
  if (made.exitCode !== 0) throw refused(place, 'git commit', made.stderr.text || made.stdout.text)
  return (await git(place, ['rev-parse', 'HEAD'])).stdout.text.trim()
}

function literal(path: string): string {
  return `:(top,literal)${path}`
}

function git({ root, env, signal }: CommitPlace, args: readonly string[], stdin?: string) {
  return exec({
    argv: ['git', ...args],
    cwd: root,
    env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'true' },
    ...(stdin !== undefined && { stdin }),
    ...(signal !== undefined && { signal }),
  })
}

function refused({ root }: CommitPlace, what: string, said: string): GantryError {
  const why = said.trim().split('\n').slice(-5).join('\n')
  return new GantryError('SPAWN_FAILED', `${what} failed in ${root}: ${why}`, {
    hint: 'The work is in the tree. Fix the problem, or continue without --commit.',
  })
}
