import { textBeside } from '../../io/text-beside.ts'
import { syscallNumbers } from './seccomp/syscalls.ts'

/** The steps, in this order, of the process that then becomes bwrap. Paths are absolute unless stated otherwise. */
export type LaunchAct =
  /** Joins a cgroup. */
  | readonly ['cgroup', directory: string]
  /** Opens a file under this descriptor, for bwrap. The first is 3, and they come before anything else that opens a file. */
  | readonly ['read' | 'write', fd: string, path: string]
  /** Opens a file as the standard input of the command. */
  | readonly ['stdin', path: string]
  /** A separate mount namespace: the host sees no mount from here on. For root. */
  | readonly ['private']
  /** The same in a separate user namespace, where any user is root over their own files. */
  | readonly ['userns']
  | readonly ['tmpfs', directory: string, options: string]
  /** The mount point is created when it is missing. */
  | readonly ['bind', source: string, target: string]
  /** Opens a tree by name before any mount that could be inside it or hide it; `put` mounts it. */
  | readonly ['take', name: string, source: string]
  /** As `take`, but files of one user and group appear, and are written, as those of another. */
  | readonly ['idmap', name: string, source: string, uid: string, gid: string, asUid: string, asGid: string]
  /** The mount point is created when it is missing. */
  | readonly ['put', name: string, target: string]
  /** Options and target are relative to `directory`, whose name may contain characters that options cannot. */
  | readonly ['overlay', directory: string, options: string, target: string]
  /** Switches to an unprivileged user; standard output stays one that this user can reopen. */
  | readonly ['user', uid: string, gid: string]
  /** Prints the output of a program. */
  | readonly ['show', program: string, argument: string]

/** Printed on standard error before an error message. */
export const launcherMark = 'gantry-launch: '

/** null for a processor with unknown system call numbers. */
export function launcherArgv(
  perl: string,
  arch: string,
  acts: readonly LaunchAct[],
  command: readonly string[],
): readonly [string, ...string[]] | null {
  const numbers = arch === 'x64' || arch === 'arm64' ? { ...syscallNumbers[arch], ...identity[arch] } : null
  if (numbers === null) return null
  const { mount, unshare, setgroups, setresuid, setresgid } = numbers
  const given = [mount, unshare, setgroups, setresuid, setresgid].map(String)
  return [perl, '-e', program, '--', ...given, ...acts.flat(), '--', ...command]
}

const identity = {
  x64: { setgroups: 116, setresuid: 117, setresgid: 119 },
  arm64: { setgroups: 159, setresuid: 147, setresgid: 149 },
}

/**
 * In Perl, because it is installed wherever git is and can make system calls by number: no other common program can map
 * the owner of files. It is also one process instead of a dozen. Numbers that are the same on every processor are here.
 */
const program = textBeside(import.meta.url, './launcher.pl')
