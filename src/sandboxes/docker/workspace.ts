import { join } from 'node:path'
import { makeDirectories } from '../../io/directory.ts'
import { fileOwner, ownUser, setFileOwner } from '../../io/file-owner.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { mountIdMapped, unmount } from '../../io/id-mapped-mount.ts'
import { isRoot } from '../../io/is-root.ts'
import { pointLink } from '../../io/point-link.ts'
import type { SandboxRequest } from '../contract.ts'
import { hosts, type LaidPlace, layPlace, overlayOptions, placesOf } from '../places.ts'
import { makeState } from '../state.ts'

/** The directories of a sandbox, ready for the engine to mount. */
export interface MountedPlaces {
  /** In the engine's format for `Mounts`. */
  readonly mounts: readonly Readonly<Record<string, unknown>>[]
  /** The overlays among them, in the engine's format, to be created first. */
  readonly volumes: readonly { readonly Name: string }[]
  /** Replaces `/etc/hosts` in a container that the engine gives none. */
  readonly hostsFile: string
  readonly shortfalls: readonly string[]
  /** On the host: everything that steps write is in one of these. */
  readonly writable: readonly string[]
  /** Called when the engine has mounted it: begins to remove what was needed only for mounting. */
  mounted(): void
  /** null when nothing is left, else the reason. */
  remove(): Promise<string | null>
}

/** `name` and `labels`: of the container. Throws GantryError when there is no directory for layers. */
export async function preparePlaces(
  request: SandboxRequest,
  user: StepUser,
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): Promise<MountedPlaces> {
  const state = makeState('docker', name, request.env)
  const preparing = placesOf(request).map(async (place, index) => {
    const directory = join(state.directory, String(index))
    const laid = layPlace(place, directory, request, user)
    const isRoots = user.standsForRoot && laid.isForeign && fileOwner(laid.source).uid === 0
    const isShown = laid.above !== null || (isRoots && [null, request.repository].includes(laid.writable))
    const shown: Shown = isShown
      ? await showAsOwn(laid, directory, isRoots ? user : null, request.env)
      : { source: laid.source, lower: null, shortfalls: [] }
    const overlay = laid.above === null ? null : overlayOptions(laid, shown.source, `${directory}/`)
    return { ...laid, ...shown, overlay, volume: `${name}-${index}` }
  })
  const hostsFile = join(state.directory, 'hosts')
  writeFileAtomic(hostsFile, hosts)
  setFileOwner(hostsFile, { ...ownUser(), mode: 0o644 })
  const parts = await Promise.all(preparing)
  let unmounting: Promise<unknown> | null = null
  return {
    volumes: parts.flatMap(({ overlay, volume }) =>
      overlay === null
        ? []
        : [
            {
              ...{ Name: volume, Driver: 'local', Labels: labels },
              DriverOpts: { type: 'overlay', device: 'overlay', o: overlay },
            },
          ],
    ),
    mounts: parts.flatMap(({ targets, source, overlay, writable, volume }) =>
      targets.map((Target) => ({
        ...{ Target, ReadOnly: writable === null },
        ...(overlay === null
          ? { Type: 'bind', Source: source }
          : { Type: 'volume', Source: volume, VolumeOptions: { NoCopy: true } }),
      })),
    ),
    hostsFile,
    shortfalls: [...new Set(parts.flatMap(({ shortfalls }) => shortfalls))],
    writable: parts.flatMap(({ writable }) => (writable === null ? [] : [writable])),
    mounted: () => {
      unmounting = Promise.allSettled(parts.map(({ lower }) => lower !== null && unmount(lower)))
    },
    remove: async () => {
      await unmounting
      // Unmounts what is still mounted, or reports why it cannot.
      return state.remove()
    },
  }
}

interface Shown {
  readonly source: string
  /** A mount that is needed only for mounting. */
  readonly lower: string | null
  readonly shortfalls: readonly string[]
}

/**
 * A path without special characters for mount options, through which root's files appear as the step's own. Where that
 * is impossible, the files stay root's and are readable as far as their permissions allow; this is reported.
 */
async function showAsOwn(
  { source, above, writable }: LaidPlace,
  directory: string,
  asUser: StepUser | null,
  env: SandboxRequest['env'],
): Promise<Shown> {
  const lower = join(directory, 'lower')
  makeDirectories(directory)
  if (asUser === null) {
    pointLink(lower, source)
    return { source: lower, lower: null, shortfalls: [] }
  }
  makeDirectories(lower)
  const isWritable = above === null && writable !== null
  const { uid, gid } = asUser
  const why = await mountIdMapped({ source, target: lower, uid, gid, isWritable, env })
  if (why === null) return { source: lower, lower, shortfalls: [] }
  const link = join(directory, 'source')
  pointLink(link, source)
  return {
    // A symlink, whose path has no special characters either.
    ...{ source: link, lower: null },
    shortfalls: [
      `The repository belongs to root, and this machine cannot map its files to the user of the steps (${why}): steps can change none of them.`,
    ],
  }
}

/** The user of the steps, inside and on the host: never root. */
export interface StepUser {
  readonly uid: number
  readonly gid: number
  /** The repository belongs to root, and its files must be mapped to this user. */
  readonly standsForRoot: boolean
}

const plain = 1000

/**
 * For a plain user, steps run as that user, who then owns their files. For root, steps run as the owner of the
 * repository, to be able to work in it; if that is root again, as an unprivileged user.
 */
export function stepUser(repository: string): StepUser {
  if (!isRoot()) return { ...ownUser(), standsForRoot: false }
  const { uid, gid } = fileOwner(repository)
  if (uid === 0) return { uid: plain, gid: plain, standsForRoot: true }
  return { uid, gid: gid === 0 ? uid : gid, standsForRoot: false }
}

/** In the engine's format. */
export function userOf({ uid, gid }: StepUser): string {
  return `${uid}:${gid}`
}

/** The idle process that keeps a container running has another user, so that steps cannot end it, and killing their processes does not. */
export function holderUser({ uid }: StepUser): string {
  const other = uid === 65_534 ? 65_533 : 65_534
  return `${other}:${other}`
}
