import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { copyFileInto } from './copy-file-into.ts'
import { makeDirectories } from './directory.ts'
import { type ExecRequest, exec } from './exec.ts'
import { writeFileAtomic } from './files.ts'
import { infoExclude } from './git-directories.ts'
import { isDirectory, isFile } from './path-kind.ts'
import { removeTree } from './remove-tree.ts'

/**
 * A separate repository that saves states of a working tree. The project's own repository, if any, is only read, and nothing that its
 * configuration names is run. Ignored files are not saved.
 */
export type ShadowRepository = Awaited<ReturnType<typeof openShadowRepository>>

export interface ShadowOptions {
  /** Directory of the repository, created if needed. */
  readonly dir: string
  readonly root: string
  /** Directories and files that are not saved, relative to the top. */
  readonly leaveOut: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
}

/** Byproducts of tools that a project may not ignore. */
export const byproducts = [
  'node_modules',
  '__pycache__',
  '.venv',
  '.ruff_cache',
  '.pytest_cache',
  '.coverage',
]

export async function openShadowRepository(options: ShadowOptions) {
  const { dir, root } = options
  if (!isFile(join(dir, 'HEAD'))) await create(options)
  // A git that was killed, for example with the machine, leaves it behind. No other process uses this repository.
  removeTree(join(dir, 'index.lock'))
  const flags = (await readingSettings(options)).flatMap((setting) => ['-c', setting])
  const run = (args: readonly string[], how?: GitOptions) => git(options, [...flags, ...args], how)
  const specs = ['.', ...leftOut(options.leaveOut)]
  return {
    /** Git in this repository, with the user's settings about files. */
    git: (args: readonly string[], how?: GitInput) => shadowGit(options, [...flags, ...args], how),
    take: async (): Promise<string> => {
      // The rules of the project's own repository that are in no tree may have changed.
      writeFileAtomic(join(dir, 'info', 'exclude'), infoExclude(root))
      // A file without read permission, or a nested repository without a commit, is left as it was.
      await run(['add', '--all', '--ignore-errors', '--', ...specs], { mayFail: true })
      return (await run(['write-tree'])).trim()
    },
    /** Paths that differ between two states, relative to the top, with `/`. */
    changes: async (from: string, to: string): Promise<readonly string[]> => {
      const names = await run(['diff-tree', '-r', '-z', '--no-renames', '--name-only', from, to])
      return names.split('\0').filter((name) => name !== '')
    },
    /** Unified diff. A long one is reduced to head and tail. `texts`: only of these files, even where git takes them as binary. */
    diff: async (
      from: string,
      to: string,
      maxBytes: number,
      texts: readonly string[] = [],
    ): Promise<string> => {
      const flags = ['-r', '-p', '--no-ext-diff', '--no-textconv', '--no-color', '--find-renames']
      const specs = texts.length > 0 ? ['--', ...texts.map((path) => `:(top,literal)${path}`)] : []
      return run(['diff-tree', ...flags, ...(texts.length > 0 ? ['--text'] : []), from, to, ...specs], {
        maxBytes,
      })
    },
  }
}

function leftOut(paths: readonly string[]): readonly string[] {
  return [
    ...paths.map((path) => `:(top,exclude,literal)${path}`),
    ...byproducts.map((name) => `:(top,exclude,glob)**/${name}/**`),
    ':(top,exclude,glob)**/*.pyc',
  ]
}

/** Starts from the project's index, so unchanged files need not be read. */
async function create(options: ShadowOptions): Promise<void> {
  const { dir } = options
  makeDirectories(dir)
  const own = await projectGit(options)
  const format = own === null ? [] : [`--object-format=${own.format}`]
  await git(options, ['init', '--quiet', '--bare', '--template=', ...format])
  makeDirectories(join(dir, 'info'))
  if (own === null) return
  if (isDirectory(own.objects))
    writeFileAtomic(join(dir, 'objects', 'info', 'alternates'), `${own.objects}\n`)
  if (!isFile(own.index)) return
  copyFileInto(own.index, dir, 'index')
  // An index that depends on other files, such as a split index, cannot be used.
  const { exitCode } = await shadowGit(options, ['ls-files', '--error-unmatch', '--', '.git'])
  if (exitCode === 128) removeTree(join(dir, 'index'))
}

/** null when the directory is not the top of a repository. */
async function projectGit(options: ShadowOptions) {
  const paths = ['--show-toplevel', '--git-path', 'objects', '--git-path', 'index']
  const asked = ['rev-parse', '--path-format=absolute', ...paths, '--show-object-format']
  const { exitCode, stdout } = await askProject(options, asked)
  const [top, objects = '', index = '', format = 'sha1'] = stdout.text.trim().split('\n')
  return exitCode === 0 && top === options.root ? { objects, index, format } : null
}

/** The user's settings about ignored files and line ends. */
export async function readingSettings(options: ShadowOptions): Promise<readonly string[]> {
  const names = '^core\\.(excludesfile|autocrlf|eol|ignorecase|precomposeunicode|filemode|symlinks)$'
  const { exitCode, stdout } = await askProject(options, ['config', '-z', '--get-regexp', names])
  if (exitCode !== 0) return []
  return stdout.text
    .split('\0')
    .filter((setting) => setting !== '')
    .map((setting) => setting.replace('\n', '='))
}

/** The project's own repository, for a question only. */
function askProject({ root, env, signal }: ShadowOptions, args: readonly string[]) {
  return exec(
    defined({ argv: ['git', '-c', 'safe.directory=*', ...args], cwd: root, env: plainEnv(env), signal }),
  )
}

interface GitOptions {
  readonly maxBytes?: number
  /** Exit code 1 is fine too: git did what it could. */
  readonly mayFail?: boolean
}

async function git(
  options: ShadowOptions,
  args: readonly string[],
  { maxBytes, mayFail = false }: GitOptions = {},
): Promise<string> {
  const result = await shadowGit(options, args, defined({ maxOutputBytes: maxBytes }))
  if (result.exitCode === 0 || (mayFail && result.exitCode === 1)) return result.stdout.text
  if (result.ending === 'aborted') throw new GantryError('INTERRUPTED', 'it was interrupted')
  const said = result.error ?? result.stderr.text.trim().split('\n').slice(-3).join(' ')
  throw new GantryError('SPAWN_FAILED', `git cannot save the state of ${options.root}: ${said}`, {
    hint: 'git must be installed, and every file that it does not ignore must be readable.',
  })
}

type GitInput = Partial<Pick<ExecRequest, 'stdin' | 'onStdout' | 'maxOutputBytes'>>

/** Git in the shadow repository. */
export function shadowGit(
  { dir, root, env, signal }: ShadowOptions,
  args: readonly string[],
  how: GitInput = {},
) {
  return exec({
    argv: ['git', ...overrules.flatMap((setting) => ['-c', setting]), ...args],
    cwd: root,
    env: {
      ...plainEnv(env),
      GIT_DIR: dir,
      ...(args[0] === 'init' ? {} : { GIT_WORK_TREE: root }),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
    },
    maxOutputBytes: 64 * 1024 * 1024,
    ...how,
    ...(signal !== undefined && { signal }),
  })
}

/** Settings that make git detect every change. */
const overrules = [
  'core.bare=false',
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.untrackedCache=false',
  'core.safecrlf=false',
  'core.quotePath=false',
  'advice.addEmbeddedRepo=false',
  'safe.directory=*',
]

/** Without variables of git, which may name another repository. */
export function plainEnv(env: ShadowOptions['env']): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].startsWith('GIT_'),
  )
  return { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' }
}
