import { sha256 } from '../../io/sha256.ts'

/** A file in a definition: its name and a hash, so that it shows when it changed and not what it holds. Nothing for one that is not there. */
export function fingerprint(path: string, content: string | null): readonly string[] {
  return content === null ? [] : [`${path} (${sha256(content.trim()).slice(0, 12)})`]
}
