import { openRepository } from './git-repository.ts'
import { packTree } from './pack-tree.ts'

/** The files that git knows or would add, as they are now: what is ignored, such as packages and secrets, stays here. */
export async function packProject(root: string): Promise<Buffer> {
  const repository = await openRepository(root)
  const ignored = new Set(['node_modules', '.git', '.env', 'cassettes.tmp'])
  if (repository === null) return packTree(root, (path) => ignored.has(path))
  const { stdout } = await repository.run(['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root })
  const files = stdout
    .toString('latin1')
    .split('\0')
    .filter((path) => path !== '')
  const wanted = new Set(files)
  for (const path of files)
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      wanted.add(path.slice(0, at))
  return packTree(root, (path) => !wanted.has(path))
}
