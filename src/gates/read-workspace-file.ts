import { readTextInside } from '../io/files.ts'
import type { GateContext, GateFinding } from './contract.ts'

export type WorkspaceFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'broken'; readonly finding: GateFinding }

const maxBytes = 4 * 1024 * 1024

/** The text of a file in the workspace, or why the gate that wanted it fails. */
export function readWorkspaceFile(path: string, { workspace }: GateContext): WorkspaceFile {
  const file = readTextInside(workspace, path, { maxBytes })
  switch (file.kind) {
    case 'text':
      return file
    case 'outside':
      return broken(path, `${path} is not read: ${file.reason}`)
    case 'missing':
      return broken(path, `${path} does not exist`)
    case 'not_a_file':
      return broken(path, `${path} is ${file.what}, not a file`)
    case 'too_large':
      return broken(
        path,
        `${path} is too large to be searched: ${file.bytes} bytes, the limit is ${maxBytes}`,
      )
    case 'unreadable':
      return broken(path, `${path} cannot be read: ${file.reason}`)
  }
}

function broken(path: string, message: string): WorkspaceFile {
  return { kind: 'broken', finding: { passed: false, message, detail: { path } } }
}
