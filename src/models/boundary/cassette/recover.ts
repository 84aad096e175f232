import { moveIfExists } from '../../../io/directory.ts'
import { lockHolder } from '../../../io/lock.ts'
import { pathKind } from '../../../io/path-kind.ts'
import { hasCassette, readIndex } from './read-directory.ts'

/** Names beside the directory of a cassette. */
export function beside(dir: string): {
  readonly lock: string
  /** A new recording, until it is whole. */
  readonly recording: string
  /** The old one, while it is being replaced. */
  readonly old: string
} {
  return { lock: `${dir}.lock`, recording: `${dir}.recording`, old: `${dir}.old` }
}

/** Ends a replacement that a crash broke off between its two renames: the new cassette if it is whole, else the old one. */
export function recoverCassette(dir: string): void {
  const { lock, recording, old } = beside(dir)
  if (pathKind(dir) !== null || lockHolder(lock) !== null) return
  if (hasCassette(recording) && readIndex(recording)?.complete === true) moveIfExists(recording, dir)
  else if (hasCassette(old)) moveIfExists(old, dir)
}
