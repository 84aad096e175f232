import { join } from 'node:path'
import { readTextIfExists } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { platform } from '../../io/host.ts'
import { isRoot } from '../../io/is-root.ts'
import { isFile, pathKind } from '../../io/path-kind.ts'
import {
  makePrivateDirectories,
  writePrivateFileAtomic,
  writePrivateProgram,
} from '../../io/private-files.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { realPath } from '../../io/resolve-links.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import type { ProtectedIndex } from './protected-index.ts'
import { shellPrefixName, shellPrefixText } from './shell-prefix.ts'

/** How files become read-only for a command. `mounts`: by root itself. `bwrap`: in a user namespace. */
export type KernelWay = 'mounts' | 'bwrap'

export type KernelProbe =
  | { readonly kind: 'works'; readonly way: KernelWay }
  /** `late`: it did not answer in time, so it may work. */
  | { readonly kind: 'off'; readonly why: string; readonly late?: true }

/** Tries it: a file that must stay, one that must be written, and the program that the agent would use. */
export async function probeKernel(): Promise<KernelProbe> {
  if (platform !== 'linux') return { kind: 'off', why: 'it needs Linux' }
  const ways: readonly KernelWay[] = isRoot() ? ['mounts', 'bwrap'] : ['bwrap']
  const reasons: string[] = []
  for (const way of ways) {
    const missing = programs[way].find((path) => !isFile(path))
    const why = missing === undefined ? await tryOut(way) : `${missing} is missing`
    if (why === null) return { kind: 'works', way }
    reasons.push(why)
  }
  const late = reasons.includes(tooLate)
  return { kind: 'off', why: reasons.join('; '), ...(late && { late }) }
}

const tooLate = 'it did not answer within 5 s'
const programs = {
  mounts: ['/usr/bin/unshare', '/usr/bin/mount', '/usr/bin/setpriv'],
  bwrap: ['/usr/bin/bwrap'],
} as const

const probeTimeoutMs = 5_000

async function tryOut(way: KernelWay): Promise<string | null> {
  using scratch = temporaryDirectory('gantry-kernel-')
  const home = realPath(scratch.path)
  const [kept, free, program] = [join(home, 'kept'), join(home, 'free'), join(home, shellPrefixName)]
  writePrivateFileAtomic(kept, 'kept')
  writePrivateFileAtomic(
    join(home, 'kernel', `probe.${way}`),
    listText(way, { paths: [kept], hidden: [hiddenIn(home)] }),
  )
  if (!writePrivateProgram(program, shellPrefixText({ guardHome: home, gantry: null })))
    return `${home} does not allow programs`
  const { exitCode, stderr, ending } = await exec({
    argv: [program, '(echo changed > kept) 2> error; echo ok > free'],
    cwd: home,
    env: { CLAUDE_CODE_SESSION_ID: 'probe', PATH: '/usr/bin:/bin' },
    timeoutMs: probeTimeoutMs,
  })
  if (ending === 'timed_out') return tooLate
  if (readTextIfExists(kept) !== 'kept') return `${way} does not keep a file from being changed`
  if (exitCode === 0 && readTextIfExists(free) === 'ok\n') return null
  const [first = ''] = stderr.text.trim().split('\n')
  return first === '' ? `${way} does not work here` : first
}

export interface KernelRequest {
  readonly root: string
  readonly home: string
  readonly guardHome: string
  readonly session: string
  readonly agent: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly index: ProtectedIndex
  /** The guard's own files. */
  readonly own: readonly string[]
  /** A session starts, so what works is tried out again. */
  readonly anew: boolean
}

/** Writes the list of the files for the commands of this session. Returns why they are not read-only, or null. */
export async function prepareKernel(request: KernelRequest): Promise<string | null> {
  const { guardHome, session, env, agent } = request
  if (agent === 'claude-code' && isNotYetSet(request)) return null
  if (env.CLAUDE_CODE_SHELL_PREFIX?.endsWith(`/${shellPrefixName}`) !== true)
    return agent === 'claude-code'
      ? 'the hooks were installed without it: `gantry guard install --enforce kernel`'
      : agent === 'codex'
        ? 'the sandbox of Codex does that, not the guard: `gantry guard status` shows for which files'
        : `it is not available for ${agent}`
  if (!/^[\w-]+$/.test(session)) return 'the name of the session cannot be used as a file name'
  const base = join(guardHome, 'kernel', session)
  const known = request.anew ? null : knownProbe(base)
  const probe = known ?? (await probeKernel())
  if (known === null) for (const end of ['mounts', 'bwrap', 'off']) removeTree(`${base}.${end}`)
  // On a busy machine it is tried again before the next command.
  if (probe.kind === 'off' && probe.late === true)
    return `${probe.why}; it is tried again before each command`
  if (probe.kind === 'off') {
    writePrivateFileAtomic(`${base}.off`, `${probe.why.replaceAll('\n', ' ')}\n`)
    return probe.why
  }
  const texts = request.own.filter((file) => isFile(file) && !file.includes('\n'))
  writePrivateFileAtomic(`${base}.own`, texts.map((file) => `${file}\n`).join(''))
  const path = `${base}.${probe.way}`
  const home = realPath(guardHome)
  const text = listText(probe.way, {
    fixed: parentsOf(home, env.HOME),
    paths: readOnlyPaths(request),
    hidden: [hiddenIn(home)],
  })
  if (readTextIfExists(path) !== text) writePrivateFileAtomic(path, text)
  return null
}

/** Hooks at the start may run before Claude Code has applied the `env` of its settings. Before a command it has. */
function isNotYetSet({ root, home, env, anew }: KernelRequest): boolean {
  const files = [
    join(root, '.claude', 'settings.local.json'),
    join(env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'), 'settings.json'),
  ]
  return (
    anew &&
    env.CLAUDE_CODE_SHELL_PREFIX === undefined &&
    files.some((path) => readTextIfExists(path)?.includes(`/${shellPrefixName}"`) === true)
  )
}

/** The program through which the commands of this session run with the protected files read-only; null when that does not work here. */
export function kernelShell(guardHome: string, session: string, env: KernelRequest['env']): string | null {
  const program = env.CLAUDE_CODE_SHELL_PREFIX
  if (program?.endsWith(`/${shellPrefixName}`) !== true || !/^[\w-]+$/.test(session)) return null
  return knownProbe(join(guardHome, 'kernel', session))?.kind === 'works' ? program : null
}

function knownProbe(base: string): KernelProbe | null {
  for (const way of ['mounts', 'bwrap'] as const) if (isFile(`${base}.${way}`)) return { kind: 'works', way }
  const why = readTextIfExists(`${base}.off`)
  return why === null ? null : { kind: 'off', why: why.trim() }
}

/** What exists, without what is inside another of them. Of `gantry.yaml` only one key is the guard's, and the seal covers it. */
function readOnlyPaths({ index, own }: KernelRequest): readonly string[] {
  const files = Object.keys(index.files).filter((path) => index.files[path]?.kind !== 'directory')
  const all = [...files, ...own.filter((path) => !/\/gantry\.ya?ml$/.test(path))]
  const real = [...new Set(all.filter((path) => pathKind(path) !== null).map(realPath))].toSorted()
  return real.filter((path) => !real.some((other) => path.startsWith(`${other}/`)))
}

/** The directories above the guard's home, below the user's. A mount point cannot be renamed, but its parent could be. */
function parentsOf(path: string, home: string | undefined): readonly string[] {
  const top = home === undefined ? null : realPath(home)
  if (top === null || !path.startsWith(`${top}/`)) return []
  const names = path.slice(top.length + 1).split('/')
  return names.slice(0, -1).map((_, index) => join(top, ...names.slice(0, index + 1)))
}

/** Where the helper keeps its secrets. With them a command could ask it as if it were the agent. */
function hiddenIn(guardHome: string): string {
  const path = join(guardHome, 'run')
  makePrivateDirectories(path)
  return path
}

interface KernelList {
  /** Stay writable, but cannot be renamed. They come first, because they cover what is mounted below them. */
  readonly fixed?: readonly string[]
  readonly paths: readonly string[]
  /** Directories that are empty for a command. They must exist. */
  readonly hidden: readonly string[]
}

function listText(way: KernelWay, { fixed = [], paths, hidden }: KernelList): string {
  if (way === 'bwrap') {
    // Root keeps its rights in a namespace of its own, and could undo the mounts.
    const drop = ['--cap-drop', 'CAP_SYS_ADMIN', '--cap-drop', 'CAP_SYS_PTRACE']
    const user = isRoot() ? ['--unshare-user', '--uid', '0', '--gid', '0', ...drop] : []
    const binds = [
      ...fixed.flatMap((path) => ['--bind-try', path, path]),
      ...paths.flatMap((path) => ['--ro-bind-try', path, path]),
      ...hidden.flatMap((path) => ['--tmpfs', path]),
    ]
    return ['--dev-bind', '/', '/', ...user, ...binds].map((word) => `${word}\0`).join('')
  }
  const line = (path: string, how: string): string => `${octal(path)} ${octal(path)} none ${how} 0 0\n`
  return [
    ...fixed.map((path) => line(path, 'bind')),
    ...paths.map((path) => line(path, 'bind,ro')),
    ...hidden.map((path) => `tmpfs ${octal(path)} tmpfs ro 0 0\n`),
  ].join('')
}

/** As fstab wants it. */
function octal(path: string): string {
  return path.replaceAll(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
}
