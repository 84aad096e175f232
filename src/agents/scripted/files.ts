import { type Change, deleteFileInside, writeTextInside } from '../../io/change-inside.ts'
import { readTextInside } from '../../io/files.ts'
import { whyUnreadable } from '../why-unreadable.ts'
import type { ToolAnswer } from './use-tool.ts'

export function writeFile(workspace: string, path: string, content: string): ToolAnswer {
  return answer(writeTextInside(workspace, path, content), `Wrote ${path}.`)
}

export function readFile(workspace: string, path: string): ToolAnswer {
  const file = readTextInside(workspace, path)
  return file.kind === 'text' ? { output: file.text } : { output: whyUnreadable(path, file), isError: true }
}

export function deleteFile(workspace: string, path: string): ToolAnswer {
  return answer(deleteFileInside(workspace, path), `Deleted ${path}.`)
}

/** Like the tool of a real agent: it refuses to guess which of several places is meant. */
export function editFile(workspace: string, path: string, old: string, replacement: string): ToolAnswer {
  const file = readTextInside(workspace, path)
  if (file.kind !== 'text') return { output: whyUnreadable(path, file), isError: true }
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
