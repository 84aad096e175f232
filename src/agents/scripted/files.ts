import { type Change, deleteFileInside, writeTextInside } from '../../io/change-inside.ts'
import { type InsideText, readTextInside } from '../../io/files.ts'
import type { ToolAnswer } from './use-tool.ts'

export function writeFile(workspace: string, path: string, content: string): ToolAnswer {
  return answer(writeTextInside(workspace, path, content), `Wrote ${path}.`)
}

export function readFile(workspace: string, path: string): ToolAnswer {
  const file = readTextInside(workspace, path)
  return file.kind === 'text' ? { output: file.text } : { output: unreadable(path, file), isError: true }
}

export function deleteFile(workspace: string, path: string): ToolAnswer {
  return answer(deleteFileInside(workspace, path), `Deleted ${path}.`)
}

/** Like the tool of a real agent: it refuses to guess which of several places is meant. */
export function editFile(workspace: string, path: string, old: string, replacement: string): ToolAnswer {
  const file = readTextInside(workspace, path)
  if (file.kind !== 'text') return { output: unreadable(path, file), isError: true }
  const count = file.text.split(old).length - 1
  if (count !== 1) {
    const output =
      count === 0 ? `The text was not found in ${path}.` : `The text occurs ${count} times in ${path}.`
    return { output, isError: true }
  }
  const text = file.text.replace(old, () => replacement)
  return answer(writeTextInside(workspace, path, text), `Edited ${path}.`)
}

function answer(change: Change, success: string): ToolAnswer {
  return change.kind === 'done' ? { output: success } : { output: change.reason, isError: true }
}

function unreadable(path: string, file: Exclude<InsideText, { readonly kind: 'text' }>): string {
  switch (file.kind) {
    case 'missing':
      return `${path} does not exist.`
    case 'outside':
      return `${path} is not in the workspace: ${file.reason}.`
    case 'not_a_file':
      return `${path} is ${file.what}.`
    case 'too_large':
      return `${path} is too large: ${file.bytes} bytes.`
    case 'unreadable':
      return `${path} cannot be read: ${file.reason}.`
  }
}
