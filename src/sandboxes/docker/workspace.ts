import { join } from 'node:path'
import { makeDirectories } from '../../io/directory.ts'
import { fileOwner, giveFile, ownUser } from '../../io/file-owner.ts'
import { mountIdMapped, unmount } from '../../io/id-mapped-mount.ts'
import { isRoot } from '../../io/is-root.ts'
import { pointLink } from '../../io/point-link.ts'
import type { SandboxRequest } from '../contract.ts'
import { type LayerDirectory, makeLayerDirectory } from './layer-directory.ts'

/** `/workspace`, ready to be mounted by the engine. */
export interface MountedWorkspace {
  /** As the engine wants it in `Mounts`. */
  readonly mount: Readonly<Record<string, unknown>>
  /** How its volume is made; null when it is none. Podman does not read this in a mount, and has to be asked for one by name. */
  readonly volume: { readonly DriverOpts: OverlayOptions; readonly Labels: Labels } | null
  readonly shortfalls: readonly string[]
  /** On the host; null when nothing is written anywhere. */
  readonly upper: string | null
  /** The engine has mounted it: what only led there can go. */
  mounted(): Promise<void>
  /** null when nothing is left, else what is in the way. */
  remove(): Promise<string | null>
}

type Labels = Readonly<Record<string, string>>
type OverlayOptions = Readonly<Record<'type' | 'device' | 'o', string>>
type Wanted = Pick<SandboxRequest, 'repository' | 'workspace' | 'env'>

/** `name` and `labels`: of the container. Throws GantryError when there is no place for layers. */
export async function prepareWorkspace(
  { repository, workspace, env }: Wanted,
  user: StepUser,
  { name, labels }: { readonly name: string; readonly labels: Labels },
): Promise<MountedWorkspace> {
  if (workspace === 'readonly' && !user.standsForRoot)
    return { ...nothingToRemove, mount: readOnly(repository) }
  const directory = makeLayerDirectory(name, env)
  const { source, shortfalls } = await showRepository(repository, directory, user, env)
  const shown = {
    shortfalls,
    mounted: async () => void (await unmount(join(directory.path, 'lower'))),
    remove: () => directory.remove(),
  }
  if (workspace === 'readonly') return { ...shown, upper: null, volume: null, mount: readOnly(source) }
  const [upper, work] = [join(directory.path, 'upper'), join(directory.path, 'work')]
  for (const path of [upper, work]) makeDirectories(path)
  giveFile(upper, { uid: user.uid, gid: user.gid, mode: 0o755 })
  const options = {
    type: 'overlay',
    device: 'overlay',
    o: `lowerdir=${source},upperdir=${upper},workdir=${work}`,
  }
  return {
    ...shown,
    upper,
    volume: { DriverOpts: options, Labels: labels },
    mount: overlay(options, labels),
  }
}

const nothingToRemove = {
  shortfalls: [],
  upper: null,
  volume: null,
  mounted: async () => {},
  remove: async () => null,
}

/**
 * A path of the repository whose letters are harmless in options of a mount, and behind which root's files are the step's own. Where
 * that cannot be had the files stay root's: they can be read as far as their permissions go, which is told.
 */
async function showRepository(
  repository: string,
  { path }: LayerDirectory,
  user: StepUser,
  env: SandboxRequest['env'],
): Promise<{ readonly source: string; readonly shortfalls: readonly string[] }> {
  const lower = join(path, 'lower')
  if (user.standsForRoot) {
    makeDirectories(lower)
    const why = await mountIdMapped({ source: repository, target: lower, uid: user.uid, gid: user.gid, env })
    if (why === null) return { source: lower, shortfalls: [] }
    const link = join(path, 'repository')
    pointLink(link, repository)
    return {
      // A link, whose letters are harmless too.
      source: link,
      shortfalls: [
        `The repository belongs to root, steps do not, and this machine cannot show its files as theirs (${why}): they can change none of them.`,
      ],
    }
  }
  pointLink(lower, repository)
  return { source: lower, shortfalls: [] }
}

function readOnly(source: string): MountedWorkspace['mount'] {
  return { Type: 'bind', Source: source, Target: '/workspace', ReadOnly: true }
}

/** A volume without a name of its own goes with its container. */
function overlay(options: OverlayOptions, labels: Labels): MountedWorkspace['mount'] {
  return {
    Type: 'volume',
    Target: '/workspace',
    VolumeOptions: { NoCopy: true, Labels: labels, DriverConfig: { Name: 'local', Options: options } },
  }
}

/** Who steps are, inside and on the host: never root. */
export interface StepUser {
  readonly uid: number
  readonly gid: number
  /** The repository is root's, and must be shown as theirs to be of use to them. */
  readonly standsForRoot: boolean
}

const plain = 1000

/**
 * A plain user's steps are himself, so that what they leave is his. Root's steps are the owner of the repository, so that they can
 * work in it; when that is root again, a user without any power.
 */
export function stepUser(repository: string): StepUser {
  if (!isRoot()) return { ...ownUser(), standsForRoot: false }
  const { uid, gid } = fileOwner(repository)
  if (uid === 0) return { uid: plain, gid: plain, standsForRoot: true }
  return { uid, gid: gid === 0 ? uid : gid, standsForRoot: false }
}

/** The idle process that holds a container open is somebody else, so that steps cannot end it, nor their end include it. */
export function holderUser({ uid }: StepUser): string {
  const other = uid === 65_534 ? 65_533 : 65_534
  return `${other}:${other}`
}
