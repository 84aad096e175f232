import { GantryError, type SourcePosition } from '../../core/error.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { lineAndColumn, parseJsonc, plainValue } from '../../core/jsonc/parse-jsonc.ts'

export interface JsonHookFile {
  readonly value: JsonObject
  /** Lists by event; empty when the file has none. */
  readonly hooks: JsonObject
  readonly hasComments: boolean
}

export interface HookFileKind {
  readonly fileName: string
  readonly comments: boolean
}

/**
 * Throws INVALID_FILE, with the line, for a text that the agent could not read and for one whose hooks are not lists:
 * it cannot be extended safely. The position's file is the usual name; the caller replaces it by the path.
 */
export function readHookFile(text: string, kind: HookFileKind): JsonHookFile {
  const parsed = parseJsonc(text, kind)
  if (parsed.kind === 'broken') throw invalid(text, kind, parsed.offset, parsed.text)
  const { node, hasComments } = parsed
  if (node.kind !== 'object') throw invalid(text, kind, node.start, 'an object is expected here')
  const hooks = node.members.findLast(({ key }) => key === 'hooks')?.value ?? null
  if (hooks !== null && hooks.kind !== 'object')
    throw invalid(text, kind, hooks.start, '`hooks` must be an object of lists by event')
  for (const { key, value } of hooks?.members ?? []) {
    if (value.kind !== 'array') throw invalid(text, kind, value.start, `the hooks of ${key} must be a list`)
  }
  const value = asObject(plainValue(node)) ?? {}
  return { value, hooks: asObject(value.hooks) ?? {}, hasComments }
}

/** The settings in a file that may not exist; null for one that the agent ignores. */
export function settingsIn(text: string | null, kind: Pick<HookFileKind, 'comments'>): JsonObject | null {
  const parsed = text === null ? null : parseJsonc(text, kind)
  return parsed?.kind === 'parsed' ? asObject(plainValue(parsed.node)) : null
}

function invalid(
  text: string,
  { fileName, comments }: HookFileKind,
  offset: number,
  what: string,
): GantryError {
  const at: SourcePosition = { file: fileName, ...lineAndColumn(text, offset) }
  const isComment = !comments && what.includes('comment')
  return new GantryError('INVALID_FILE', what, {
    at,
    hint: isComment
      ? 'The agent itself ignores the whole file because of it. Take the comment out and try again.'
      : 'Fix the file and try again; nothing was changed.',
  })
}
