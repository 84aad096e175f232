import { fileOwner, ownUser } from '../../io/file-owner.ts'
import { isRoot } from '../../io/is-root.ts'

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
