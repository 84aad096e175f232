import { realpathSync } from 'node:fs'

/** The path with every link resolved; as it is when there is nothing at its end. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
