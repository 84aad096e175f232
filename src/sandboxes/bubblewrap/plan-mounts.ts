import { join } from 'node:path'
import type { FileOwner } from '../../io/file-owner.ts'
import type { LaunchAct } from './launcher.ts'

/** A path inside, and where bwrap finds its content. */
export interface PlannedMount {
  readonly writable: boolean
  readonly source: string
  readonly target: string
}

export interface WantedMount extends Omit<PlannedMount, 'target'> {
  readonly targets: readonly string[]
  /** Makes it an overlay whose lowest layer is the source. */
  readonly overlay?: Overlay
  /** The owner whose files appear as the step's own; null leaves them unchanged, for others to read. */
  readonly owner: FileOwner | null
  /** Readable by everyone, so it can be used directly. */
  readonly isPublic?: boolean
}

export interface Overlay {
  /** Has the mount points `lower` and `merged`, and what the options name. */
  readonly directory: string
  /** With relative paths, because a real path may contain a comma or a colon. */
  readonly options: string
}

/**
 * For root: steps run as an unprivileged user of the host, so everything is mounted where that user can reach it, and
 * files of the repository's owner appear as theirs. None of it is visible outside this mount namespace.
 */
export function planMountsAsRoot(
  wanted: readonly WantedMount[],
  reachable: string,
): { readonly acts: readonly LaunchAct[]; readonly mounts: readonly PlannedMount[] } {
  const taken: LaunchAct[] = []
  const layered: LaunchAct[] = []
  const put: LaunchAct[] = []
  const mounts = wanted.flatMap((mount, index): readonly PlannedMount[] => {
    if (mount.isPublic === true) return atTargets(mount, mount.source)
    const [name, source] = [String(index), join(reachable, String(index))]
    taken.push(
      mount.owner === null ? ['take', name, mount.source] : asStepUser(name, mount.source, mount.owner),
    )
    if (mount.overlay !== undefined) {
      const { directory, options } = mount.overlay
      layered.push(
        ['put', name, join(directory, 'lower')],
        ['overlay', directory, options, 'merged'],
        ['take', name, join(directory, 'merged')],
      )
    }
    put.push(['put', name, source])
    return atTargets(mount, source)
  })
  const stage: LaunchAct = ['tmpfs', reachable, 'mode=0755,size=1m']
  const user: LaunchAct = ['user', String(hostUser), String(hostUser)]
  return { acts: [['private'], ...taken, ...layered, stage, ...put, user], mounts }
}

function asStepUser(name: string, source: string, { uid, gid }: FileOwner): LaunchAct {
  return ['idmap', name, source, String(uid), String(gid), String(hostUser), String(hostUser)]
}

/** For any other user: steps run as that user. Only overlays need preparation. */
export function planMountsAsPlainUser(wanted: readonly WantedMount[]): {
  readonly acts: readonly LaunchAct[]
  readonly mounts: readonly PlannedMount[]
} {
  const acts = wanted.flatMap(({ source, overlay }): readonly LaunchAct[] =>
    overlay === undefined
      ? []
      : [
          ['bind', source, join(overlay.directory, 'lower')],
          ['overlay', overlay.directory, `${overlay.options},userxattr`, 'merged'],
        ],
  )
  return {
    acts: acts.length === 0 ? [] : [['userns'], ...acts],
    mounts: wanted.flatMap((mount) =>
      atTargets(mount, mount.overlay === undefined ? mount.source : join(mount.overlay.directory, 'merged')),
    ),
  }
}

function atTargets({ writable, targets }: WantedMount, source: string): readonly PlannedMount[] {
  return targets.map((target) => ({ writable, source, target }))
}

/** An id without an account, which also exists in a container with only 65,536 users. */
export const hostUser = 61_000
