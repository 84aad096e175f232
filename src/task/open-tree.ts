import { exec } from '../io/exec.ts'
import { openShadowRepository, type ShadowRepository } from '../io/shadow-repository.ts'

/** A working tree whose states are taken down, read again and put back. */
export interface TaskTree extends ShadowRepository {
  readonly root: string
  /** The files of a state by path; with `paths` only those. */
  entries(tree: string, paths?: readonly string[]): Promise<ReadonlyMap<string, TreeEntry>>
  read(id: string): Promise<Buffer>
  /** A patch that `git apply` takes: binary files, modes and missing newlines included. */
  patch(from: string, to: string): Promise<Buffer>
  /**
   * Makes the working tree have these paths as they are in the state, those it does not have removed. Answers the paths git
   * cannot name, which stay as they are.
   */
  putBack(tree: string, paths: readonly string[]): Promise<readonly string[]>
  /** Applies a patch to the working tree, wholly or not at all. null when it went well, else what git said. */
  apply(patch: Uint8Array): Promise<string | null>
}

export interface TreeEntry {
  /** As git writes it: 100644, 100755, 120000. */
  readonly mode: string
  readonly id: string
}

export interface TreeOptions {
  /** Of the shadow repository. */
  readonly dir: string
  readonly root: string
  readonly leaveOut: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

export async function openTree(options: TreeOptions): Promise<TaskTree> {
  const { root } = options
  const shadow = await openShadowRepository(options)
  const git = (args: readonly string[], stdin?: string) => runGit(options, args, stdin)
  return {
    ...shadow,
    root,
    entries: async (tree, paths) => {
      if (paths?.length === 0) return new Map()
      const listed = await git(['ls-tree', '-r', '-z', '--full-tree', tree])
      const wanted = paths === undefined ? null : new Set(paths)
      return new Map(
        listed
          .toString('utf8')
          .split('\0')
          .flatMap((line): [string, TreeEntry][] => {
            const [, mode = '', id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
            return path !== '' && wanted?.has(path) !== false ? [[path, { mode, id }]] : []
          }),
      )
    },
    read: (id) => git(['cat-file', 'blob', id]),
    patch: (from, to) => {
      const flags = ['-r', '-p', '--binary', '--full-index', '--no-renames', '--no-color']
      return git(['diff-tree', ...flags, '--no-ext-diff', '--no-textconv', from, to])
    },
    putBack: async (tree, paths) => {
      if (paths.length === 0) return []
      // The index knows what is there now, so that what the state does not have is removed.
      await shadow.take()
      const from = ['--pathspec-from-file=-', '--pathspec-file-nul']
      const args = ['restore', `--source=${tree}`, '--staged', '--worktree', ...from]
      const isDone = async (some: readonly string[]): Promise<boolean> => {
        const specs = some.map((path) => `:(top,literal)${path}`).join('\0')
        return (await tryGit(options, args, specs)).exitCode === 0
      }
      if (await isDone(paths)) return []
      const left: string[] = []
      for (const path of paths) if (!(await isDone([path]))) left.push(path)
      return left
    },
    apply: async (patch) => {
      const flags = ['apply', '--binary', '--whitespace=nowarn', '-']
      const { exitCode, stderr, error } = await tryGit(options, flags, patch)
      return exitCode === 0 ? null : (error ?? stderr.text.trim())
    },
  }
}

async function runGit(options: TreeOptions, args: readonly string[], stdin?: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const result = await tryGit(options, args, stdin, (chunk) => void chunks.push(chunk))
  if (result.exitCode === 0) return Buffer.concat(chunks)
  throw new Error(`git ${args[0]} failed on the states of ${options.root}: ${result.stderr.text.trim()}`)
}

function tryGit(
  { dir, root, env }: TreeOptions,
  args: readonly string[],
  stdin?: string | Uint8Array,
  onStdout?: (chunk: Uint8Array) => void,
) {
  const settings = ['core.bare=false', 'core.hooksPath=/dev/null', 'core.quotePath=false', 'safe.directory=*']
  const host = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('GIT_'),
  )
  return exec({
    argv: ['git', ...settings.flatMap((setting) => ['-c', setting]), ...args],
    cwd: root,
    env: {
      ...Object.fromEntries(host),
      LC_ALL: 'C',
      GIT_DIR: dir,
      GIT_WORK_TREE: root,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_LITERAL_PATHSPECS: '0',
    },
    ...(onStdout !== undefined && { onStdout, maxOutputBytes: 4_096 }),
    ...(stdin !== undefined && { stdin }),
  })
}
