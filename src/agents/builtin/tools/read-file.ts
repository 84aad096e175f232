import { readTextInside } from '../../../io/files.ts'
import { whyUnreadable } from '../../why-unreadable.ts'
import { workspacePath } from './workspace-path.ts'

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly problem: string }

/** A text file of the workspace, or why it cannot be had, as a sentence for the model. */
export function readFile(workspace: string, path: string): FileText {
  const file = readTextInside(workspace, workspacePath(workspace, path))
  if (file.kind !== 'text') return { kind: 'unreadable', problem: whyUnreadable(path, file) }
  if (file.text.includes('\0')) return { kind: 'unreadable', problem: `${path} is a binary file.` }
  return { kind: 'text', text: file.text }
}
