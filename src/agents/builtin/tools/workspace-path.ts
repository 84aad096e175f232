import { isAbsolute, relative, sep } from 'node:path'

/** Models like to write absolute paths; one that lies in the workspace is told relative to it, any other stays as it is. */
export function workspacePath(workspace: string, path: string): string {
  if (!isAbsolute(path)) return path
  const below = relative(workspace, path)
  return below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below) ? path : below
}
