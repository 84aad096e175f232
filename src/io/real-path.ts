import { realpathSync } from 'node:fs'

/** The path with every link resolved; as it is when there is nothing at its end. */
export function realPath(path: string): string {
  try {
    // Node's own walks link by link in JavaScript, which costs a hook a millisecond.
    return realpathSync.native(path)
  } catch {
    return path
  }
}
