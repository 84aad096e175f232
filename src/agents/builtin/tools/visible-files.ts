import { openRepository } from '../../../io/git-repository.ts'
import { listFiles } from '../../../io/list-files.ts'

/**
 * Files of the workspace, relative to it, sorted: those git does not ignore, or, where there is no git, all but those of
 * installed packages. Links are listed, never followed.
 */
export async function visibleFiles(workspace: string): Promise<readonly string[]> {
  return (await listedByGit(workspace)) ?? listFiles(workspace, { exclude })
}

async function listedByGit(workspace: string): Promise<readonly string[] | null> {
  const repository = await openRepository(workspace)
  if (repository === null) return null
  const run = (args: readonly string[]) => repository.run(args, { cwd: workspace })
  // A workspace that lies, ignored, in somebody else's repository would seem to be empty.
  if ((await run(['check-ignore', '--quiet', '.'])).exitCode === 0) return null
  const { exitCode, stdout } = await run(['ls-files', '--cached', '--others', '--exclude-standard', '-z'])
  if (exitCode !== 0) return null
  const paths = stdout.toString('utf8').split('\0').slice(0, -1)
  return [...new Set(paths)].sort()
}

function exclude(path: string, isDirectory: boolean): boolean {
  return isDirectory && /(^|\/)(node_modules|\.git)$/.test(path)
}
