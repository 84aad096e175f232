import type { PatchedFile, TextEdit, ToolAction, ToolCall } from '../../core/hook-event.ts'
import {
  asArray,
  asObject,
  asString,
  asStrings,
  type JsonObject,
  parseObject,
} from '../../core/json-fields.ts'

export type ToolPurpose =
  | 'bash'
  | 'powershell'
  /** A shell command that runs in the background. */
  | 'watch'
  | 'write'
  | 'edit'
  | 'patch'
  | 'subagent'
  /** Changes no file by itself. */
  | 'read'

/** Purposes by tool, from the names of an agent's tools by purpose, with blanks between them. */
export function toolPurposes(names: Partial<Record<ToolPurpose, string>>): ReadonlyMap<string, ToolPurpose> {
  const purposes = Object.entries(names) as [ToolPurpose, string][]
  return new Map(
    purposes.flatMap(([purpose, tools]) => tools.split(' ').map((tool) => [tool, purpose] as const)),
  )
}

/**
 * What a call would do. `unknown` when its input lacks a required field, or has two that contradict each other: then
 * everything it names is judged.
 */
export function toolAction(
  word: ToolPurpose | undefined,
  input: JsonObject,
  server: string | null,
): ToolAction {
  return (word === undefined ? null : readAction(word, input)) ?? { kind: 'unknown', server }
}

function readAction(word: ToolPurpose, input: JsonObject): ToolAction | null {
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

/** A list of words becomes the equivalent shell command; `sh -c TEXT` becomes the text. */
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

/** null when it is missing, and when two fields for it contradict each other. */
function onlyOne(input: JsonObject, words: readonly string[]): string | null {
  const found = new Set(words.map((word) => asString(input[word])).filter((value) => value !== undefined))
  const [value] = found
  return found.size === 1 && value !== undefined ? value : null
}

/**
 * The files that a patch in the format of `apply_patch` changes. Headers count anywhere and with any indentation,
 * because its parsers are lenient: a file too many is better than one too few.
 */
export function patchedFiles(patch: string): readonly PatchedFile[] {
  const files: PatchedFile[] = []
  for (const line of patch.split(/\r\n|\n|\r/)) {
    // A line of content, not of the patch.
    if (line.startsWith('+') || line.startsWith('-')) continue
    const [, word, rest] = header.exec(line) ?? []
    const path = rest?.trim()
    if (word === undefined || path === undefined || path === '') continue
    const last = files.at(-1)
    if (word !== 'Move to') files.push({ path, change: changes[word as keyof typeof changes] })
    // A move without a known source still names a file that would be written.
    else if (last === undefined || last.to !== undefined) files.push({ path, change: 'add' })
    else files[files.length - 1] = { ...last, to: path }
  }
  return files
}

const changes = { 'Add File': 'add', 'Update File': 'update', 'Delete File': 'delete' } as const
const header = /^\s*\*\*\* (Add File|Update File|Delete File|Move to):(.*)$/

interface RawCall {
  readonly id: string | null
  readonly tool: string | null
  readonly input: unknown
  /** The MCP server, where the agent sends it separately from the tool's name. */
  readonly server?: string | null
}

/** A call in agent-independent form. A tool that is not in the list is `unknown`. */
export function toolCall(
  words: ReadonlyMap<string, ToolPurpose>,
  { id, tool, input, server }: RawCall,
): ToolCall {
  const name = tool ?? 'unknown'
  // Some agents send the input as a JSON string.
  const fields = asObject(input) ?? (typeof input === 'string' ? parseObject(input) : null) ?? {}
  return {
    id,
    tool: name,
    action: toolAction(words.get(name), fields, server ?? serverIn(name)),
    input: input ?? null,
  }
}

/** `mcp__server__tool`; other spellings cannot be split reliably. */
function serverIn(tool: string): string | null {
  return /^mcp__(.+?)__/.exec(tool)?.[1] ?? null
}
