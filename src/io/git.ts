import { type GitRepository, openRepository } from './git-repository.ts'

/** What a manifest records about the repository a run was started in. */
export interface GitInfo {
  readonly root: string
  /** null before the first commit. */
  readonly commit: string | null
  /** Anything changed, staged or untracked; a submodule counts by the commit it is at. */
  readonly dirty: boolean
}

/** null when `dir` is in no repository, or when there is no git that can read it. Writes nothing and runs no hook or filter. */
export async function gitInfo(dir: string): Promise<GitInfo | null> {
  const repository = await openRepository(dir)
  return repository === null ? null : repositoryInfo(repository)
}

/** The same of a repository that is open already. */
export async function repositoryInfo(repository: GitRepository): Promise<GitInfo | null> {
  const what = ['--branch', '--untracked-files=normal', '--ignore-submodules=dirty']
  const how = ['--porcelain=v2', '-z', '--no-ahead-behind', '--no-renames']
  const { exitCode, stdout } = await repository.run(['status', ...how, ...what])
  if (exitCode !== 0) return null
  const lines = stdout.toString('latin1').split('\0').slice(0, -1)
  const commit = lines
    .map((line) => /^# branch\.oid ([0-9a-f]+)$/.exec(line)?.[1])
    .find((id) => id !== undefined)
  return {
    root: repository.root,
    commit: commit ?? null,
    dirty: lines.some((line) => !line.startsWith('# ')),
  }
}
