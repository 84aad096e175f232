import { join } from 'node:path'
import type { FileOwner } from '../../io/file-owner.ts'
import type { LaunchAct } from './launcher.ts'

/** Where something is to be seen inside, and where bwrap finds it. */
export interface PlannedMount {
  readonly writable: boolean
  readonly source: string
  readonly target: string
}

export interface WantedMount extends PlannedMount {
  /** Whose files are to be shown as the step's own; null leaves them as they are, for others to read. */
  readonly owner: FileOwner | null
  /** Reachable for everybody, so that it can be taken as it is. */
  readonly isPublic?: boolean
}

/** How the workspace is made: `upper` and `work` are directories in the state directory. */
export type WorkspaceLayer = 'none' | 'overlay'

/**
 * Started by root: steps are a user of the host without any power, so everything is brought to a place he can reach, and files of
 * the repository's owner are shown as his. Nothing of it is seen outside the mount namespace in which this is done.
 */
export function planAsRoot(
  wanted: readonly WantedMount[],
  layer: WorkspaceLayer,
  state: string,
  reachable: string,
): { readonly acts: readonly LaunchAct[]; readonly mounts: readonly PlannedMount[] } {
  const taken: LaunchAct[] = []
  const layered: LaunchAct[] = []
  const put: LaunchAct[] = []
  const mounts = wanted.map((mount, index): PlannedMount => {
    if (mount.isPublic === true) return mount
    const [name, source] = [String(index), join(reachable, String(index))]
    taken.push(
      mount.owner === null ? ['take', name, mount.source] : asStepUser(name, mount.source, mount.owner),
    )
    if (layer === 'overlay' && mount.target === '/workspace')
      layered.push(
        ['put', name, join(state, 'lower')],
        ['overlay', state, overlayOptions, 'merged'],
        ['take', name, join(state, 'merged')],
      )
    put.push(['put', name, source])
    return { ...mount, source }
  })
  const stage: LaunchAct = ['tmpfs', reachable, 'mode=0755,size=1m']
  const user: LaunchAct = ['user', String(hostUser), String(hostUser)]
  return { acts: [['private'], ...taken, ...layered, stage, ...put, user], mounts }
}

function asStepUser(name: string, source: string, { uid, gid }: FileOwner): LaunchAct {
  return ['idmap', name, source, String(uid), String(gid), String(hostUser), String(hostUser)]
}

/** Started by anybody else: steps are that user. Only an overlay needs preparation. */
export function planAsPlainUser(
  wanted: readonly WantedMount[],
  layer: WorkspaceLayer,
  state: string,
): { readonly acts: readonly LaunchAct[]; readonly mounts: readonly PlannedMount[] } {
  if (layer === 'none') return { acts: [], mounts: wanted }
  const repository = wanted.find(({ target }) => target === '/workspace')?.source ?? ''
  return {
    acts: [
      ['userns'],
      ['bind', repository, join(state, 'lower')],
      ['overlay', state, `${overlayOptions},userxattr`, 'merged'],
    ],
    mounts: wanted.map((mount) =>
      mount.target === '/workspace' ? { ...mount, source: join(state, 'merged') } : mount,
    ),
  }
}

/** Nobody's: no account has it, and it exists also where a container has only 65,536 users. */
export const hostUser = 61_000

/** Paths are relative, so that no comma or colon of a real path gets in here. */
const overlayOptions = 'lowerdir=lower,upperdir=upper,workdir=work,index=off'
