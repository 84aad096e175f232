import { join, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { Variables } from '../core/expand.ts'
import { monotonicMs } from './clock.ts'
import { exec } from './exec.ts'
import { findGitTop } from './find-git-top.ts'
import { findProgram } from './find-program.ts'
import { isDirectory, isFile, isMissing } from './path-kind.ts'
import { readShortText } from './read-short-text.ts'

/** Read-only access to a repository: writes nothing and runs nothing that its configuration names. */
export interface GitRepository {
  readonly root: string
  readonly objectFormat: 'sha1' | 'sha256'
  /** Paths with a `filter` attribute may be stored differently from the file on disk. */
  readonly hasFilters: boolean
  run(args: readonly string[], options?: GitRunOptions): Promise<GitAnswer>
}

interface GitRunOptions {
  readonly cwd?: string
  readonly stdin?: Uint8Array
}

interface GitAnswer {
  /** null when git could not be started or was killed. */
  readonly exitCode: number | null
  readonly stdout: Buffer
}

const windows = process.platform === 'win32'

/** Overrides settings that would run a program, write something, or make git miss a change. */
const overrules: readonly string[] = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'core.untrackedCache=false',
  'core.trustctime=true',
  'core.checkStat=default',
  'core.ignoreStat=false',
  'protocol.allow=never',
  'safe.directory=*',
  ...(windows ? [] : ['core.fileMode=true', 'core.symlinks=true']),
].flatMap((setting) => ['-c', setting])

/** Variables that locate the user's global settings. Every other GIT_ variable is about one repository. */
const keptVariables = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG_NOSYSTEM', 'GIT_EXEC_PATH']

export interface OpenRepositoryOptions {
  /**
   * Time limit of each git call, because a pipe in place of a file would block git forever. After that it counts as killed, and for a
   * while this process treats the directory as no repository. Default: a minute.
   */
  readonly timeoutMs?: number
}

/** The repository whose working tree contains `dir`; null when there is none, or no git that can read it. */
export async function openRepository(
  dir: string,
  { timeoutMs = defaultTimeoutMs }: OpenRepositoryOptions = {},
): Promise<GitRepository | null> {
  const root = findGitTop(resolve(dir))
  if (root === null || (silentUntilMs.get(root) ?? 0) > monotonicMs()) return null
  const bound = { timeoutMs, whenLate: () => silence(root) }
  const plain = environment(root)
  const settings = plainGitSettings(root, plain) ?? (await askSettings({ root, env: plain, bound }))
  if (settings === null) return null
  const { filters, objectFormat } = settings
  const env = { ...plain, ...withoutFilters(filters) }
  return {
    root,
    objectFormat,
    hasFilters: filters.length > 0,
    run: (args, options) => runGit({ root, env, bound }, args, options),
  }
}

/** Older ones ignore the variables that keep a repository's settings from running programs. */
const oldestGit = [2, 32] as const

/** An error about a git that is too old; null for a newer one, and when there is none. */
export async function oldGitError(env: Readonly<Record<string, string>>): Promise<GantryError | null> {
  const { stdout } = await exec({ argv: ['git', '--version'], cwd: '/', env, timeoutMs: defaultTimeoutMs })
  const [, version = '', major, minor] = /^git version ((\d+)\.(\d+)\S*)/.exec(stdout.text) ?? []
  const isOld =
    Number(major) < oldestGit[0] || (Number(major) === oldestGit[0] && Number(minor) < oldestGit[1])
  if (!isOld) return null
  return new GantryError(
    'USAGE',
    `git ${version} is too old: Gantry needs git ${oldestGit.join('.')} or newer`,
    {
      hint: 'Install a newer git, and put it first on the PATH.',
    },
  )
}

const defaultTimeoutMs = 60_000

/** Until when repositories whose git timed out are skipped. */
const silentUntilMs = new Map<string, number>()
const silentForMs = 30_000

function silence(root: string): void {
  silentUntilMs.set(root, monotonicMs() + silentForMs)
}

function environment(root: string): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined && (!name.startsWith('GIT_') || keptVariables.includes(name))) env[name] = value
  return {
    ...env,
    LC_ALL: 'C',
    GIT_DIR: join(root, '.git'),
    GIT_WORK_TREE: root,
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
  }
}

async function askSettings(place: GitPlace): Promise<GitSettings | null> {
  const { exitCode, stdout } = await runGit(place, ['config', '--list', '-z'])
  return exitCode === 0 ? readGitSettings(stdout.toString('utf8')) : null
}

function withoutFilters(drivers: readonly string[]): Record<string, string> {
  const pairs = drivers.flatMap((name) => [
    [`filter.${name}.clean`, ''],
    [`filter.${name}.process`, ''],
    [`filter.${name}.required`, 'false'],
  ])
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(pairs.length) }
  for (const [index, [key = '', value = '']] of pairs.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  return env
}

interface GitPlace {
  readonly root: string
  readonly env: Record<string, string>
  readonly bound: { readonly timeoutMs: number; readonly whenLate: () => void }
}

async function runGit(
  { root, env, bound }: GitPlace,
  args: readonly string[],
  { cwd = root, stdin }: GitRunOptions = {},
): Promise<GitAnswer> {
  const chunks: Uint8Array[] = []
  const { exitCode, ending } = await exec({
    argv: ['git', ...overrules, ...args],
    cwd,
    env,
    // File names are bytes, and captured text would decode them as UTF-8.
    maxOutputBytes: 4096,
    onlyWrites: true,
    onStdout: (chunk) => void chunks.push(chunk),
    ...(stdin === undefined ? {} : { stdin }),
    // It only reads, so it can be killed at once.
    timeoutMs: bound.timeoutMs,
    graceMs: 100,
  })
  if (ending === 'timed_out') bound.whenLate()
  return { exitCode, stdout: Buffer.concat(chunks) }
}

/** The parts of git's configuration needed before git may read a repository. */
interface GitSettings {
  /** Names of the drivers that would run a program on the content of files. */
  readonly filters: readonly string[]
  readonly objectFormat: 'sha1' | 'sha256'
}

/** What `git config --list -z` printed. */
export function readGitSettings(listed: string): GitSettings {
  const settings = listed.split('\0').map((setting) => setting.split('\n', 2))
  const drivers = settings.map(([key]) => /^filter\.(.+)\.(?:clean|process)$/s.exec(key ?? '')?.[1])
  const format = settings.findLast(([key]) => key === 'extensions.objectformat')
  return {
    filters: [...new Set(drivers.filter((name) => name !== undefined))],
    objectFormat: format?.[1] === 'sha256' ? 'sha256' : 'sha1',
  }
}

/**
 * The settings when no file that git reads can change them, as in most repositories; null when git has to be asked. A section name is
 * literal in its file, so a text without the word has no such section.
 */
export function plainGitSettings(root: string, env: Variables): GitSettings | null {
  const { HOME: home = '', PATH: path = '', XDG_CONFIG_HOME: configHome = '' } = env
  // The location of the system settings depends on the build of git. It is known for this one.
  if (process.platform !== 'linux' || findProgram('git', path) !== '/usr/bin/git' || home === '') return null
  if (Object.keys(env).some((name) => name.startsWith('GIT_CONFIG'))) return null
  const own = `${root}/.git`
  if (!isDirectory(own) || !isMissing(`${own}/commondir`) || !isFile(`${own}/config`)) return null
  const files = [
    '/etc/gitconfig',
    `${configHome === '' ? `${home}/.config` : configHome}/git/config`,
    `${home}/.gitconfig`,
    `${own}/config`,
  ]
  return files.every(saysNothing) ? { filters: [], objectFormat: 'sha1' } : null
}

const maxBytes = 65_536

function saysNothing(file: string): boolean {
  if (isMissing(file)) return true
  const text = readShortText(file, maxBytes)
  return text !== null && !/filter|include|extensions/i.test(text)
}
