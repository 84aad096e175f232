import { openRepository } from './git-repository.ts'

/** Files below a directory that git knows or would add, relative to it and sorted; null when git cannot list them. */
export async function gitFiles(dir: string): Promise<readonly string[] | null> {
  const repository = await openRepository(dir)
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const answer = await repository?.run(args, { cwd: dir })
  if (answer?.exitCode !== 0) return null
  return [...new Set(answer.stdout.toString('utf8').split('\0'))].filter((path) => path !== '').sort()
}
