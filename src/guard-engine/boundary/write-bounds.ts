import { fold, isInside } from '../seal/own-match.ts'

/** Where writes may go. Of the grounds a path stands on the nearest decides; what stands on none is outside. */
export interface WriteBounds {
  /** Of the project; absolute and real, as all paths here. */
  readonly root: string
  readonly grounds: readonly Ground[]
  /** `read`: no command of git that moves refs, the index or the stash. */
  readonly git: 'all' | 'read'
}

export type Ground =
  /** What is worked on. */
  | { readonly kind: 'project'; readonly path: string }
  /** May be written besides. */
  | { readonly kind: 'open'; readonly path: string }
  /** Stays as it is; `why` ends a sentence. */
  | { readonly kind: 'kept'; readonly path: string; readonly why: string }
  /** The project around the package that is worked on. */
  | { readonly kind: 'confined'; readonly path: string; readonly why: string }

const sinks = /^\/dev\/(?:null|stdout|stderr|tty|zero|fd\/\d+)$/

/**
 * Why a real path must not be written, as the end of a sentence; null when it may be. With `entry` the name itself goes or is
 * replaced: that of a whole ground belongs to the directory above it.
 */
export function whyPath(real: string, bounds: WriteBounds, entry = false): string | null {
  const { root, grounds } = bounds
  if (sinks.test(real)) return null
  if (entry && real === root) return 'it is the project itself'
  const ground = nearestGround(real, grounds, entry)
  switch (ground?.kind) {
    case undefined:
      return outside(grounds)
    case 'kept':
    case 'confined':
      return ground.why
    case 'open':
      return null
    case 'project':
      return belongsToGit(real, root) ? gitsOwn : null
  }
}

/** Said of what git keeps, in the project and in repositories below it. */
export const gitsOwn = 'it belongs to git'

export function nearestGround(real: string, grounds: readonly Ground[], entry = false): Ground | undefined {
  let nearest: Ground | undefined
  for (const ground of grounds) {
    if (!standsOn(real, ground, entry)) continue
    const lead = ground.path.length - (nearest?.path.length ?? -1)
    if (lead > 0 || (lead === 0 && ground.kind === 'kept')) nearest = ground
  }
  return nearest
}

/** What must not be written is so in every spelling, what may be in its own only. */
function standsOn(real: string, { kind, path }: Ground, entry: boolean): boolean {
  if (kind === 'kept') return isInside(fold(real), fold(path))
  return isInside(real, path) && !(entry && kind !== 'confined' && real === path)
}

function belongsToGit(real: string, root: string): boolean {
  return fold(real).slice(root.length).split('/').includes('.git')
}

function outside(grounds: readonly Ground[]): string {
  const open = grounds.filter(({ kind }) => kind === 'open').map(({ path }) => path)
  return open.length === 0
    ? 'it is outside the project'
    : `it is outside the project, besides which only ${open.slice(0, 3).join(', ')} may be written`
}
