import { basename, dirname, join } from 'node:path'
import type { HookEvent } from '../../core/hook-event.ts'
import { fileHash } from '../../io/content-hash.ts'
import { isFile, pathKind } from '../../io/path-kind.ts'
import { realPath } from '../../io/real-path.ts'
import type { EditedFile } from '../contract.ts'
import { callPaths } from '../store-event/call-paths.ts'

/** The files a call of an editing tool names, as they are now. Of a shell nobody can tell. */
export function editedFiles(event: HookEvent): readonly EditedFile[] {
  if (event.kind !== 'tool_after' && event.kind !== 'tool_before') return []
  const { kind } = event.call.action
  if (kind !== 'write' && kind !== 'edit' && kind !== 'patch') return []
  const paths = new Set(callPaths(event.call, event.cwd).map(realFilePath))
  // Reading anything but a file, a pipe say, might never end.
  return [...paths].map((path) => ({ path, hash: isFile(path) ? fileHash(path) : null }))
}

/** A file that is gone is still known by where its directory leads. */
function realFilePath(path: string): string {
  return pathKind(path) === null ? join(realPath(dirname(path)), basename(path)) : realPath(path)
}
