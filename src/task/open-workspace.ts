import { isAbsolute, join, relative } from 'node:path'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { copyTree } from '../io/copy-tree.ts'
import { treeBytes } from '../io/directory.ts'
import { removeTree, writeFileAtomic } from '../io/files.ts'
import { gitDirectories, infoExclude } from '../io/git-directories.ts'
import { type GitRepository, openRepository } from '../io/git-repository.ts'
import { readShortText } from '../io/read-short-text.ts'
import { byproducts, readingSettings, shadowGit } from '../io/shadow-repository.ts'
import type { LiveRun } from '../store/contract.ts'
import type { TaskBase } from './active-task.ts'

/** Working directories inside the run directory. They are removed when the task ends. */
export function placesOf({ dir }: Pick<LiveRun, 'dir'>) {
  return {
    home: join(dir, 'home'),
    scratch: join(dir, 'tmp'),
    shadow: join(dir, 'shadow.git'),
    workspace: join(dir, 'workspace'),
  }
}

/**
 * The working tree of a task, inside its run directory: the last commit of the repository, and files that git ignores, such as installed
 * packages. Its git directory is its own and reads the objects of the repository, so nothing that happens here changes the user's
 * branches, configuration or hooks. Without a commit, or below the top of a repository, it is a plain copy.
 */
export async function openWorkspace(base: TaskBase): Promise<{ root: string; commit: string | null }> {
  const { run, journal } = base
  const { workspace } = placesOf(run)
  const made = await journal.step('workspace', async () => {
    removeTree(workspace)
    return { commit: await makeWorkspace(base, workspace) }
  })
  return { root: workspace, commit: made.commit ?? null }
}

/** The run store is not part of the tree, even inside the repository. */
export function storeInside({ request, context }: TaskBase): readonly string[] {
  const path = relative(request.repository, context.store.root)
  return path === '' || path.startsWith('..') || isAbsolute(path) ? [] : [path]
}

/** They configure the task, so they are taken as they are now. */
const ownFiles = /^(?:agent\.ya?ml|gantry\.ya?ml|harness\.json)$/

async function makeWorkspace(base: TaskBase, workspace: string): Promise<string | null> {
  const { request, context, emit } = base
  const { repository } = request
  const found = await openRepository(repository)
  const git = found?.root === repository ? found : null
  const commit =
    git === null ? null : ((await listed(git, ['rev-parse', '--verify', '-q', 'HEAD'], '\n'))[0] ?? null)
  const isWhole = git === null || commit === null || request.withChanges === true
  const changed = isWhole ? [] : await changesIn(git)
  const large = git === null || commit === null ? [] : await tooLarge(git)
  const left = new Set([
    ...storeInside(base),
    ...large.map((path) => path.replace(/\/$/, '')),
    ...changed.flatMap(({ path, isNew }) => (isNew ? [path] : [])),
  ])
  const { warnings } = await copyTree(repository, workspace, {
    exclude: (path) => path === '.git' || path.endsWith('/.git') || left.has(path),
    keepsOutside: true,
    keepsTimes: true,
  })
  const note = (level: 'info' | 'warning', message: string): void => emit({ kind: 'note', level, message })
  for (const message of warnings) note('warning', message)
  if (large.length > 0)
    note(
      'warning',
      `Too large for the task's own tree, and left out: ${large.join(', ')}. With --here the task works in your tree.`,
    )
  if (changed.length > 0)
    note(
      'warning',
      `The task starts from the last commit, without ${counted(changed.length, 'file')} that you have not committed (${changed
        .slice(0, 5)
        .map(({ path }) => path)
        .join(', ')}${changed.length > 5 ? ', …' : ''}). --with-changes includes them.`,
    )
  if (git === null || commit === null) return null
  const restored = changed.flatMap(({ path, isNew }) => (isNew ? [] : [path]))
  const branch = branchOf(request.taskId)
  await makeGitDirectory(git, { workspace, commit, env: context.env, branch, restored })
  return commit
}

export function branchOf(taskId: string): string {
  return `gantry/${taskId}`
}

interface WorkspaceGit {
  readonly workspace: string
  readonly commit: string
  readonly branch: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Written as they are in the commit. */
  readonly restored: readonly string[]
}

async function makeGitDirectory(
  from: GitRepository,
  { workspace, commit, branch, env, restored }: WorkspaceGit,
): Promise<void> {
  const dir = join(workspace, '.git')
  const common = gitDirectories(from.root)?.common ?? join(from.root, '.git')
  const place = { dir, root: workspace, leaveOut: [], env }
  const git = async (args: readonly string[], stdin = ''): Promise<void> => {
    const { exitCode, stderr, error } = await shadowGit(place, args, { stdin })
    if (exitCode !== 0)
      throw new GantryError(
        'SPAWN_FAILED',
        `git ${args[0]} failed in the tree of the task: ${error ?? stderr.text.trim()}`,
      )
  }
  await git(['init', '--quiet', '--template=', `--object-format=${from.objectFormat}`])
  writeFileAtomic(join(dir, 'objects', 'info', 'alternates'), `${alternate(join(common, 'objects'))}\n`)
  writeFileAtomic(join(dir, 'info', 'exclude'), infoExclude(from.root))
  const shallow = readShortText(join(common, 'shallow'), maxShallowBytes)
  if (shallow !== null) writeFileAtomic(join(dir, 'shallow'), shallow)
  for (const setting of await readingSettings({ ...place, root: from.root })) {
    const [name = '', ...value] = setting.split('=')
    await git(['config', name, value.join('=')])
  }
  await git(['update-ref', `refs/heads/${branch}`, commit])
  await git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`])
  // Steps may ask for tags and branches. One that is damaged here is not worth a failure.
  const refs = ['refs/tags', 'refs/heads', 'refs/remotes']
  const named = await listed(
    from,
    ['for-each-ref', '--format=create %(refname) %(objectname)', ...refs],
    '\n',
  )
  await shadowGit(place, ['update-ref', '--stdin'], { stdin: `${named.join('\n')}\n` })
  await git(['read-tree', commit])
  await git(['checkout-index', '-f', '-z', '--stdin'], restored.map((path) => `${path}\0`).join(''))
  await shadowGit(place, ['update-index', '-q', '--refresh'])
}

/** Git reads a line in quotation marks as C does. */
function alternate(path: string): string {
  return /["\n]/.test(path) ? `"${path.replaceAll(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"` : path
}

const maxShallowBytes = 16 * 1024 * 1024

/** Changed and new files that are neither committed nor ignored. */
async function changesIn(git: GitRepository): Promise<readonly { path: string; isNew: boolean }[]> {
  const flags = ['--name-status', '-z', '--no-renames', '--ignore-submodules=dirty']
  const status = await listed(git, ['diff', ...flags, 'HEAD'])
  // Whether these files are changed, and what they look like in the commit, only the filter knows, such as that of Git LFS.
  const stored = git.hasFilters ? await listed(git, ['ls-files', '-z', '--', ':(exclude,attr:!filter)']) : []
  const filtered = new Set(stored)
  const tracked = status.flatMap((word, index) => {
    const path = status[index + 1] ?? ''
    return index % 2 === 1 || (word === 'M' && filtered.has(path)) ? [] : [{ path, isNew: word === 'A' }]
  })
  const others = await listed(git, ['ls-files', '--others', '--exclude-standard', '-z'])
  const isByproduct = (path: string): boolean => path.split('/').some((name) => byproducts.includes(name))
  return [
    ...tracked,
    ...others
      .filter((path) => !isByproduct(path))
      .map((path) => ({ path: path.replace(/\/$/, ''), isNew: true })),
  ].filter(({ path }) => !ownFiles.test(path))
}

const maxIgnoredBytes = 4 * 1024 ** 3

/** The largest ignored files and directories, if all of them together are too many to copy. */
async function tooLarge(git: GitRepository): Promise<readonly string[]> {
  const flags = ['--others', '--ignored', '--exclude-standard', '--directory', '-z']
  const ignored = await listed(git, ['ls-files', ...flags])
  const sizes = ignored.map((path) => ({ path, bytes: treeBytes(join(git.root, path)) }))
  let all = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
  const left: string[] = []
  for (const { path, bytes } of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
    if (all <= maxIgnoredBytes) break
    left.push(path)
    all -= bytes
  }
  return left
}

export async function listed(
  git: GitRepository,
  args: readonly string[],
  separator = '\0',
): Promise<readonly string[]> {
  const { exitCode, stdout } = await git.run(args, { cwd: git.root })
  return exitCode === 0 ? stdout.toString('utf8').split(separator).filter(Boolean) : []
}
