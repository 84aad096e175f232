import { type InsideText, readTextInside } from '../../../io/files.ts'
import { workspacePath } from './workspace-path.ts'

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly problem: string }

/** A text file of the workspace, or why it cannot be had, as a sentence for the model. */
export function readFile(workspace: string, path: string): FileText {
  const file = readTextInside(workspace, workspacePath(workspace, path))
  if (file.kind !== 'text') return { kind: 'unreadable', problem: problemOf(path, file) }
  if (file.text.includes('\0')) return { kind: 'unreadable', problem: `${path} is a binary file.` }
  return { kind: 'text', text: file.text }
}

function problemOf(path: string, file: Exclude<InsideText, { readonly kind: 'text' }>): string {
  switch (file.kind) {
    case 'missing':
      return `${path} does not exist.`
    case 'outside':
      return `${path} is not in the workspace: ${file.reason}.`
    case 'not_a_file':
      return `${path} is ${file.what}.`
    case 'too_large':
      return `${path} is too large to be read: ${file.bytes} bytes. Look at a part of it with run.`
    case 'unreadable':
      return `${path} cannot be read: ${file.reason}.`
  }
}
