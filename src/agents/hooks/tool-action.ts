import type { TextEdit, ToolAction } from '../../core/hook-event.ts'
import { asArray, asObject, asString, asStrings, type JsonObject } from '../../core/json-fields.ts'
import { patchedFiles } from './patched-files.ts'

/** What a tool is for, whatever its agent calls it. */
export type ToolWord =
  | 'bash'
  | 'powershell'
  /** A shell command whose end nobody waits for. */
  | 'watch'
  | 'write'
  | 'edit'
  | 'patch'
  | 'subagent'
  /** Changes no file by itself. */
  | 'read'

/**
 * What a call would do. `unknown` when its input lacks what such a tool needs, or has it twice in different words: then
 * everything it names is judged.
 */
export function toolAction(word: ToolWord | undefined, input: JsonObject, server: string | null): ToolAction {
  return (word === undefined ? null : readAction(word, input)) ?? { kind: 'unknown', server }
}

function readAction(word: ToolWord, input: JsonObject): ToolAction | null {
  switch (word) {
    case 'bash':
    case 'powershell':
    case 'watch':
      return shellAction(word, input)
    case 'write': {
      const path = onlyOne(input, pathWords)
      return path === null ? null : { kind: 'write', path, content: onlyOne(input, contentWords) }
    }
    case 'edit': {
      const path = onlyOne(input, pathWords)
      return path === null ? null : { kind: 'edit', path, edits: editsIn(input) }
    }
    case 'patch': {
      const text = onlyOne(input, patchWords)
      return text === null ? null : { kind: 'patch', text, files: patchedFiles(text) }
    }
    case 'subagent':
      return { kind: 'subagent', type: onlyOne(input, typeWords), prompt: onlyOne(input, promptWords) }
    case 'read':
      return { kind: 'read', path: onlyOne(input, pathWords) }
  }
}

const pathWords = [
  'file_path',
  'path',
  'filePath',
  'notebook_path',
  'absolute_path',
  'target_file',
  'target_notebook',
]
const contentWords = ['content', 'file_text', 'contents', 'code_edit']
const patchWords = ['command', 'patch', 'patchText', 'input']
const typeWords = ['subagent_type', 'agent_type', 'agent_name']
const promptWords = ['prompt', 'message', 'task', 'query']
const directoryWords = ['directory', 'dir_path', 'workdir', 'working_directory']
const oldWords = ['old_string', 'old_str', 'oldString', 'old']
const newWords = ['new_string', 'new_str', 'newString', 'new', 'new_source', 'insert_text']

function shellAction(word: 'bash' | 'powershell' | 'watch', input: JsonObject): ToolAction | null {
  const command = commandOf(input.command ?? input.cmd)
  if (command === null || (input.command !== undefined && input.cmd !== undefined)) return null
  const directory = onlyOne(input, directoryWords)
  return {
    kind: 'shell',
    command,
    background: word === 'watch' || isInBackground(input),
    language: word === 'powershell' ? 'powershell' : 'bash',
    ...(directory !== null && { directory }),
  }
}

/** A list of words is what a shell would be given for them; of `sh -c TEXT` it is the text. */
function commandOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  const words = asStrings(value)
  if (words === undefined || words.length === 0 || words.length !== asArray(value).length) return null
  const [shell = '', flag = '', script] = words
  if (
    words.length === 3 &&
    script !== undefined &&
    /(^|\/)(ba|z|da|k)?sh$/.test(shell) &&
    /^-l?c$/.test(flag)
  )
    return script
  return words.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' ')
}

function isInBackground(input: JsonObject): boolean {
  const { run_in_background, is_background, isBackground, detach, mode } = input
  return [run_in_background, is_background, isBackground, detach].includes(true) || mode === 'async'
}

function editsIn(input: JsonObject): readonly TextEdit[] {
  const list = asArray(input.edits).flatMap((edit) => editIn(asObject(edit) ?? {}))
  return [...editIn(input), ...list]
}

function editIn(input: JsonObject): TextEdit[] {
  const [before, after] = [onlyOne(input, oldWords), onlyOne(input, newWords)]
  return before === null && after === null ? [] : [{ old: before ?? '', new: after ?? '' }]
}

/** null when it is missing, and when two words for it contradict each other. */
function onlyOne(input: JsonObject, words: readonly string[]): string | null {
  const found = new Set(words.map((word) => asString(input[word])).filter((value) => value !== undefined))
  const [value] = found
  return found.size === 1 && value !== undefined ? value : null
}
