import type { SandboxFailure } from '../contract.ts'
import { isExhaustion } from '../state.ts'
import { launcherMark } from './launcher.ts'

/** An error message of bwrap or of its launcher, as an infrastructure failure. */
export function launchFailure(said: string): SandboxFailure {
  const text =
    said
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line.startsWith(launcherMark) || line.startsWith('bwrap: ')) ??
    said.trim().split('\n')[0]
  const what = (text ?? '').replace(launcherMark, '') || 'it ended without a message'
  const type = isExhaustion(what) ? 'resource_exhaustion' : 'container_creation'
  const fix = fixes.find(([form]) => form.test(what))?.[1] ?? ''
  return { type, message: `bubblewrap cannot create the sandbox: ${what}.${fix}` }
}

/** Why the cgroup could not be joined; null when something else failed. */
export function cgroupRefusal(said: string): string | null {
  return /gantry-launch: (cannot write \S+cgroup\.procs: .*)/.exec(said)?.[1] ?? null
}

const fixes: readonly (readonly [RegExp, string])[] = [
  [/cannot start \S*bwrap: no such file/i, ' Install it: sudo apt-get install bubblewrap.'],
  [
    /(?:user |mount )namespace|uid map|setting up|creating new namespace|No permissions to creat/i,
    ' The kernel must allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000, on Ubuntu also kernel.apparmor_restrict_unprivileged_userns=0.',
  ],
  [
    /overlay/i,
    ' Set XDG_CACHE_HOME to a directory on ext4, xfs or btrfs, or set verification.workspace to readonly.',
  ],
  [
    /as another user's/,
    ' Its file system cannot do that: run Gantry as the user who owns it, or use Docker.',
  ],
  [/execvp/, ' The step needs sh: choose another root directory.'],
]
