import { type JsoncMember, type JsoncNode, parseJsonc, plainValue } from '../../../core/jsonc/parse-jsonc.ts'
import type { PluginFileText } from './plugin-files.ts'

/** Parsed JSON with the line of every key. */
export type JsonFile =
  | { readonly kind: 'parsed'; readonly value: unknown; lineOf(path: readonly (string | number)[]): number }
  | { readonly kind: 'broken'; readonly line: number; readonly column: number; readonly text: string }

/** As strict as Claude Code: no comments, no trailing comma. Never throws for the content of the text. */
export function parseJsonFile(text: string): JsonFile {
  const parsed = parseJsonc(text, { comments: false })
  const starts = lineStarts(text)
  if (parsed.kind === 'broken') {
    const line = lineAt(starts, parsed.offset)
    return { kind: 'broken', line, column: parsed.offset - (starts[line - 1] ?? 0) + 1, text: parsed.text }
  }
  const find = memberFinder()
  return {
    kind: 'parsed',
    value: plainValue(parsed.node),
    lineOf: (path) => lineAt(starts, offsetOf(parsed.node, path, find)),
  }
}

/** Like parseJsonFile, but a byte order mark is an error: Claude Code accepts one only in the manifest. */
export function parseUnmarkedJson({ text, hasMark }: PluginFileText): JsonFile {
  if (hasMark) return { kind: 'broken', line: 1, column: 1, text: 'it begins with a byte order mark' }
  return parseJsonFile(text)
}

/** The offset of the key or item, or of the deepest existing parent. */
function offsetOf(root: JsoncNode, path: readonly (string | number)[], find: Find): number {
  let node = root
  let offset = root.start
  for (const step of path) {
    if (node.kind === 'object') {
      const member = find(node, step)
      if (member === undefined) return offset
      offset = member.keyStart
      node = member.value
    } else if (node.kind === 'array' && typeof step === 'number') {
      const item = node.items[step]
      if (item === undefined) return offset
      offset = item.start
      node = item
    } else return offset
  }
  return offset
}

type ObjectNode = Extract<JsoncNode, { kind: 'object' }>
type Find = (node: ObjectNode, key: string | number) => JsoncMember | undefined

/** For duplicate keys the last one. Indexed, because a file may have thousands of keys and each may be looked up. */
function memberFinder(): Find {
  const known = new WeakMap<ObjectNode, ReadonlyMap<string | number, JsoncMember>>()
  return (node, key) => {
    const members = known.get(node) ?? new Map(node.members.map((member) => [member.key, member]))
    known.set(node, members)
    return members.get(key)
  }
}

function lineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** The last line that begins at or before the offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return low
}
