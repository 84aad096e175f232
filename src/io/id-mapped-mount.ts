import { readTextIfExists } from './directory.ts'
import { exec } from './exec.ts'
import { findProgram } from './find-program.ts'
import { realPath } from './resolve-links.ts'
import { textBeside } from './text-beside.ts'

export interface IdMappedMount {
  readonly source: string
  /** An empty directory. */
  readonly target: string
  /** What belongs to root shall look as if it belonged to this user, and the other way round. */
  readonly uid: number
  readonly gid: number
  readonly isWritable: boolean
  readonly env: Readonly<Record<string, string>>
}

/**
 * Shows a directory a second time, with root's files as another user's; nothing in it is touched, and it costs the same
 * for any number of files. Only root can, on Linux 5.12 and most file systems. null when it is done, else what is in the way.
 */
export async function mountIdMapped({
  source,
  target,
  uid,
  gid,
  isWritable,
  env,
}: IdMappedMount): Promise<string | null> {
  const perl = findProgram('perl', `${env.PATH ?? ''}:/usr/bin`)
  // No program of older systems can ask for such a mount; perl can make any system call, and is there wherever Debian is.
  if (perl === null) return 'there is no perl to ask for it'
  const { exitCode, stderr, error } = await exec({
    argv: [perl, '-e', script, source, target, swapped(uid), swapped(gid), isWritable ? '0' : '1'],
    cwd: '/',
    env: { PATH: `${env.PATH ?? ''}:/usr/bin:/bin` },
    timeoutMs: 10_000,
    maxOutputBytes: 4_096,
    onlyWrites: true,
  })
  return exitCode === 0 ? null : (error ?? stderr.text.trim().split('\n')[0] ?? 'it ended without a word')
}

/** Also when it is in use: its users keep it. null when it is gone, else what is in the way. */
export async function unmount(target: string): Promise<string | null> {
  if (!isMountPoint(target)) return null
  const { exitCode, stderr, error } = await exec({
    argv: ['umount', '--lazy', '--', target],
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    timeoutMs: 10_000,
    maxOutputBytes: 4_096,
    onlyWrites: true,
  })
  return exitCode === 0 || !isMountPoint(target) ? null : (error ?? stderr.text.trim())
}

function isMountPoint(path: string): boolean {
  const mounts = readTextIfExists('/proc/self/mountinfo') ?? ''
  // As the table writes them: space, tab, line break and backslash in octal.
  const written = realPath(path).replaceAll(
    /[ \t\n\\]/g,
    (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`,
  )
  return mounts.includes(` ${written} `)
}

/** Two ids exchanged, all others as they are: lines of `id on disk`, `id shown`, `how many`. */
function swapped(id: number): string {
  const last = 4_294_967_294
  const lines = [`0 ${id} 1`, `${id} 0 1`]
  if (id > 1) lines.push(`1 1 ${id - 1}`)
  lines.push(`${id + 1} ${id + 1} ${last - id - 1}`)
  return lines.join('\n')
}

/**
 * A user namespace holds the table of ids; it lives as long as the child. Numbers are those of `open_tree`, `mount_setattr` and
 * `move_mount`, the same on every processor.
 */
const script = textBeside(import.meta.url, './id-mapped-mount.pl')
