import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { gitDirectories } from '../../io/git-directories.ts'
import { openRepository } from '../../io/git-repository.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { shadowGit } from '../../io/shadow-repository.ts'

/** What the git directory of a repository needs on another machine. The index and the files travel otherwise. */
export interface BundledRepository<Bundle> {
  readonly commit: string
  readonly objectFormat: 'sha1' | 'sha256'
  /** The content of git's file `shallow`; empty for a complete history. */
  readonly shallow: string
  /** The last commit, its history, and the tags in it, as `git bundle`. */
  readonly bundle: Bundle
}

const maxShallowBytes = 16 * 1024 * 1024

/** null without a commit, and for a directory that is not the top of a repository. Reads only. */
export async function bundleRepository(repository: string): Promise<BundledRepository<Buffer> | null> {
  const git = await openRepository(repository)
  if (git === null || git.root !== repository) return null
  const head = await git.run(['rev-parse', '--verify', '-q', 'HEAD'])
  const commit = head.stdout.toString().trim()
  if (head.exitCode !== 0) return null
  const tags = await git.run(['tag', '--merged', 'HEAD', '--format=%(refname)'])
  const bundled = await git.run(['bundle', 'create', '--quiet', '-', '--stdin'], {
    stdin: Buffer.from(`HEAD\n${tags.exitCode === 0 ? tags.stdout.toString() : ''}`),
  })
  if (bundled.exitCode !== 0)
    throw new GantryError('SPAWN_FAILED', `git cannot make a bundle of ${repository}`, {
      hint: 'Look for damage with: git fsck',
    })
  const common = gitDirectories(repository)?.common ?? join(repository, '.git')
  return {
    commit,
    objectFormat: git.objectFormat,
    shallow: readShortText(join(common, 'shallow'), maxShallowBytes) ?? '',
    bundle: bundled.stdout,
  }
}

/** Makes the git directory beside files that are there already. They may differ from the commit. */
export async function unbundleRepository(
  root: string,
  { commit, objectFormat, shallow, bundle }: BundledRepository<Uint8Array>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const dir = join(root, '.git')
  const git = async (args: readonly string[], stdin = ''): Promise<string> => {
    const { exitCode, stdout, stderr, error } = await shadowGit({ dir, root, leaveOut: [], env }, args, {
      stdin,
    })
    if (exitCode === 0) return stdout.text
    throw new GantryError('SPAWN_FAILED', `git ${args[0]} failed: ${error ?? stderr.text.trim()}`)
  }
  await git(['init', '--quiet', '--template=', `--object-format=${objectFormat}`])
  if (shallow !== '') writeFileAtomic(join(dir, 'shallow'), shallow)
  const file = join(dir, 'bundle')
  writeFileAtomic(file, bundle)
  const refs = await git(['bundle', 'unbundle', file])
  const tags = refs.split('\n').flatMap((line) => {
    const [id, name = ''] = line.split(' ')
    return name.startsWith('refs/tags/') ? [`create ${name} ${id}\n`] : []
  })
  await git(['update-ref', '--stdin'], tags.join(''))
  await git(['update-ref', 'HEAD', commit])
  await git(['read-tree', commit])
  // Exit code 1 when files differ from the commit.
  await shadowGit({ dir, root, leaveOut: [], env }, ['update-index', '-q', '--refresh'])
}
