import { posix } from 'node:path'
import type { World } from '../../shell/world.ts'
import { printable } from '../printable.ts'
import { fold, isInside } from '../seal/guarded-path-matcher.ts'
import type { Settings } from '../settings/settings.ts'

/** Where an agent may write. The innermost area around a path decides. A path in no area is outside. */
export interface WriteLimits {
  /** Root of the project. Absolute and real, like all paths here. */
  readonly root: string
  readonly areas: readonly WriteArea[]
  /** `read`: refuse git commands that change refs, the index or the stash. */
  readonly git: 'all' | 'read'
}

export type WriteArea =
  /** The project or package the agent works on. */
  | { readonly kind: 'project'; readonly path: string }
  /** Writable too. */
  | { readonly kind: 'open'; readonly path: string }
  /** Must not change; `why` completes the sentence "It must not be written: …". */
  | { readonly kind: 'kept'; readonly path: string; readonly why: string }
  /** The part of the project outside the one package the agent works on. */
  | { readonly kind: 'confined'; readonly path: string; readonly why: string }

/** The write limits of the settings, with links resolved. */
export function limitsOfSettings(
  { root: set, package: inner, also, refused, git }: Settings['boundary'],
  project: string,
  world: World,
): WriteLimits {
  const root = world.resolve(set === '' ? project : set).real
  return {
    root,
    git,
    areas: [
      ...projectAreas(root, inner),
      ...also.map((path): WriteArea => ({ kind: 'open', path: world.resolve(path).real })),
      ...refused.map(
        (name): WriteArea => ({
          kind: 'kept',
          path: below(root, name),
          why: `the settings say that ${name} must not change`,
        }),
      ),
    ],
  }
}

/** The whole project or one package of it, without git's own files. Links are not followed, because the agent could move them. */
export function projectAreas(root: string, inner: string): readonly WriteArea[] {
  const path = below(root, inner)
  const why = `the work is confined to ${inner}`
  return [
    ...(path === root ? [] : [{ kind: 'confined', path: root, why } as const]),
    { kind: 'project', path },
    { kind: 'kept', path: below(root, '.git'), why: belongsToGit },
  ]
}

/**
 * Why a real path must not be written, as the end of a sentence; null when it may. With `entry` the name itself is removed or replaced: the
 * name of a whole area belongs to the directory above it.
 */
export function pathRefusal(real: string, { root, areas }: WriteLimits, entry = false): string | null {
  if (devices.test(real)) return null
  if (entry && real === root) return 'it is the project itself'
  const area = nearestArea(real, areas, entry)
  switch (area?.kind) {
    case undefined:
      return outside(areas)
    case 'kept':
    case 'confined':
      return area.why
    case 'open':
      return null
    case 'project':
      return fold(real).slice(root.length).split('/').includes('.git') ? belongsToGit : null
  }
}

export function nearestArea(real: string, areas: readonly WriteArea[], entry = false): WriteArea | undefined {
  let nearest: WriteArea | undefined
  for (const area of areas) {
    if (!contains(area, real, entry)) continue
    const lead = area.path.length - (nearest?.path.length ?? -1)
    if (lead > 0 || (lead === 0 && area.kind === 'kept')) nearest = area
  }
  return nearest
}

/** A name for a message. */
export function quotedName(name: string): string {
  return `\`${printable(name, 200)}\``
}

const devices = /^\/dev\/(?:null|stdout|stderr|tty|zero|fd\/\d+)$/

/** The reason for git's own files, in the project and in repositories below it. */
const belongsToGit = 'it belongs to git'

function below(root: string, name: string): string {
  return posix.join(root, name).replace(/(?<=.)\/$/, '')
}

/** A kept path is refused in every spelling. An open path is allowed only in its exact spelling. */
function contains({ kind, path }: WriteArea, real: string, entry: boolean): boolean {
  if (kind === 'kept') return isInside(fold(real), fold(path))
  return isInside(real, path) && !(entry && kind !== 'confined' && real === path)
}

function outside(areas: readonly WriteArea[]): string {
  const open = areas.filter(({ kind }) => kind === 'open').map(({ path }) => path)
  return open.length === 0
    ? 'it is outside the project'
    : `it is outside the project; besides the project only ${open.slice(0, 3).join(', ')} may be written`
}
