import { openShadowRepository, type ShadowOptions, type ShadowRepository } from '../io/shadow-repository.ts'

/** A working tree whose states can be saved, read and restored. */
export interface TaskTree extends ShadowRepository {
  readonly root: string
  /** Directories and files that belong to Gantry, relative to the root. */
  readonly leaveOut: readonly string[]
  /** The files of a state by path, or only those in `paths`. */
  entries(tree: string, paths?: readonly string[]): Promise<ReadonlyMap<string, TreeEntry>>
  read(id: string): Promise<Buffer>
  /** The files of a state as texts. */
  texts(tree: string): Promise<TreeTexts>
  /** A patch for `git apply`, including binary files, modes and missing newlines. */
  patch(from: string, to: string): Promise<Buffer>
  /**
   * Restores these paths of the working tree to the state, and removes those the state does not have. Returns the paths that git
   * could not restore.
   */
  putBack(tree: string, paths: readonly string[]): Promise<readonly string[]>
  /** Applies a patch to the working tree completely or not at all. Returns null, or git's error message. `flags`: of `git apply`. */
  apply(patch: Uint8Array, flags?: readonly string[]): Promise<string | null>
  /** The patch that merges a change into the tree, file by file. `commit`: what the change was made for. null for a conflict. */
  merged(patch: Uint8Array, flags: readonly string[], commit: string | null): Promise<Buffer | null>
}

export interface TreeTexts {
  readonly paths: ReadonlySet<string>
  /** '' for a file that the state does not have, for a submodule, and for more than 4 MiB, which no person wrote. */
  read(path: string): Promise<string>
}

export interface TreeEntry {
  /** In git's notation: 100644, 100755, 120000. */
  readonly mode: string
  readonly id: string
}

export type TreeOptions = Omit<ShadowOptions, 'signal'>

const maxTextBytes = 4 * 1024 * 1024

export async function openTree(options: TreeOptions): Promise<TaskTree> {
  const { root } = options
  const shadow = await openShadowRepository(options)
  const git = (args: readonly string[]) => runGit(shadow, root, args)
  const patch = (from: string, to: string): Promise<Buffer> => {
    const flags = ['-r', '-p', '--binary', '--full-index', '--no-renames', '--no-color']
    return git(['diff-tree', ...flags, '--no-ext-diff', '--no-textconv', from, to])
  }
  const apply = async (stdin: Uint8Array, flags: readonly string[] = []): Promise<string | null> => {
    const args = ['apply', '--binary', '--whitespace=nowarn', ...flags, '-']
    const { exitCode, stderr, error } = await shadow.git(args, { stdin })
    return exitCode === 0 ? null : (error ?? stderr.text.trim())
  }
  const entriesOf: TaskTree['entries'] = async (tree, paths) => {
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
  }
  const read = (id: string): Promise<Buffer> => git(['cat-file', 'blob', id])
  return {
    ...shadow,
    root,
    leaveOut: options.leaveOut,
    entries: entriesOf,
    read,
    texts: async (tree) => {
      const entries = await entriesOf(tree)
      return {
        paths: new Set(entries.keys()),
        read: async (path) => {
          const { id, mode } = entries.get(path) ?? {}
          const bytes = id === undefined || mode === '160000' ? null : await read(id)
          return bytes === null || bytes.length > maxTextBytes ? '' : bytes.toString('utf8')
        },
      }
    },
    patch,
    apply,
    merged: async (change, flags, commit) => {
      // A merge needs every file before and after the change.
      if (commit !== null && (await shadow.git(['read-tree', commit])).exitCode === 0)
        await apply(change, ['--cached'])
      const before = await shadow.take()
      if ((await apply(change, ['--3way', '--cached', ...flags])) !== null) return null
      const after = (await git(['write-tree'])).toString().trim()
      return patch(before, after)
    },
    putBack: async (tree, paths) => {
      if (paths.length === 0) return []
      // Update the index first, so that `restore` removes files the state does not have.
      await shadow.take()
      const from = ['--pathspec-from-file=-', '--pathspec-file-nul']
      const args = ['restore', `--source=${tree}`, '--staged', '--worktree', ...from]
      const isDone = async (some: readonly string[]): Promise<boolean> => {
        const specs = some.map((path) => `:(top,literal)${path}`).join('\0')
        return (await shadow.git(args, { stdin: specs })).exitCode === 0
      }
      if (await isDone(paths)) return []
      const left: string[] = []
      for (const path of paths) if (!(await isDone([path]))) left.push(path)
      return left
    },
  }
}

async function runGit(shadow: ShadowRepository, root: string, args: readonly string[]): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  const onStdout = (chunk: Uint8Array): void => void chunks.push(chunk)
  const { exitCode, stderr } = await shadow.git(args, { onStdout, maxOutputBytes: 4_096 })
  if (exitCode === 0) return Buffer.concat(chunks)
  throw new Error(`git ${args[0]} failed on the saved states of ${root}: ${stderr.text.trim()}`)
}
