import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseAllDocuments,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import type { SourcePosition } from '../core/error.ts'

export interface Problem {
  readonly at: SourcePosition
  readonly text: string
}

export interface Source {
  readonly kind: 'parsed'
  /** Without a byte order mark. */
  readonly text: string
  readonly value: unknown
  /** The value at the path; its key when the value is empty; the deepest thing that is there when it is missing. */
  positionOf(path: readonly PropertyKey[]): SourcePosition
  /** The last segment's key rather than its value. */
  keyPositionOf(path: readonly PropertyKey[]): SourcePosition
}

export const tooDeep = 'nested too deeply'

const maxAliases = 100

/** YAML 1.2 (and so JSON) as plain values that still know where they stand. Never throws for what the text contains. */
export function parseSource(
  given: string,
  file: string,
): Source | { readonly kind: 'broken'; readonly problems: readonly Problem[] } {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const lines = new LineCounter()
  const at = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(Math.min(offset, text.length))
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const broken = (problems: readonly Problem[]) => ({ kind: 'broken', problems }) as const
  try {
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      version: '1.2',
      schema: 'core',
      resolveKnownTags: false,
      prettyErrors: false,
      logLevel: 'silent',
    })
    const [document, second] = 'empty' in documents ? [] : documents
    if (document === undefined) return parsed(text, {}, at, null)
    const problems = [...document.errors, ...document.warnings].map((found) => syntaxProblem(found, text, at))
    if (second !== undefined)
      problems.push({ at: at(second.range[0]), text: 'a second document starts here; one file holds one' })
    problems.push(...danglingAliases(document, text, at))
    if (problems.length > 0) return broken(problems.sort(byPosition))
    const value: unknown = isEmpty(document.contents) ? {} : document.toJS({ maxAliasCount: maxAliases })
    return parsed(text, value, at, document)
  } catch (cause) {
    return broken([{ at: at(0), text: thrownText(cause) }])
  }
}

function parsed(
  text: string,
  value: unknown,
  at: (offset: number) => SourcePosition,
  document: Document | null,
): Source {
  const find = (path: readonly PropertyKey[], wanted: 'key' | 'value'): SourcePosition =>
    at(document === null ? 0 : offsetOf(document, path, wanted))
  return {
    kind: 'parsed',
    text,
    value,
    positionOf: (path) => find(path, 'value'),
    keyPositionOf: (path) => find(path, 'key'),
  }
}

function offsetOf(document: Document, path: readonly PropertyKey[], wanted: 'key' | 'value'): number {
  let node: unknown = document.contents
  let offset = startOf(node) ?? 0
  for (const [index, segment] of path.entries()) {
    const holder = isAlias(node) ? node.resolve(document) : node
    if (isMap(holder)) {
      const pair = pairOf(holder, segment)
      if (pair === undefined) return offset
      const keyOffset = startOf(pair.key) ?? offset
      const last = index === path.length - 1
      node = pair.value
      offset = (last && wanted === 'key') || isEmpty(node) ? keyOffset : (startOf(node) ?? keyOffset)
    } else if (isSeq(holder)) {
      const item: unknown = holder.items[Number(segment)]
      if (item === undefined) return offset
      // `[a: 1]` holds a pair where a mapping of one key is meant.
      node = isPair(item) ? item.value : item
      offset = startOf(isPair(item) ? item.key : item) ?? offset
    } else return offset
  }
  return offset
}

function pairOf(map: YAMLMap<unknown, unknown>, segment: PropertyKey): Pair<unknown, unknown> | undefined {
  const wanted = String(segment)
  return map.items.find(({ key }) => keyText(key) === wanted)
}

function keyText(key: unknown): string {
  if (!isScalar(key)) return String(key)
  return key.value === null ? '' : String(key.value)
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}

/** Nothing was written: `key:` at the end of a line, a document without content. */
function isEmpty(node: unknown): boolean {
  if (node === null || node === undefined) return true
  return isScalar(node) && node.value === null && node.range?.[0] === node.range?.[1]
}

function danglingAliases(
  document: Document,
  text: string,
  at: (offset: number) => SourcePosition,
): Problem[] {
  const found: Problem[] = []
  if (!text.includes('*')) return found
  const anchors = new Set<string>()
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        if (!anchors.has(node.source))
          found.push({
            at: at(startOf(node) ?? 0),
            text: `the alias *${node.source} has no anchor before it`,
          })
      } else if (node.anchor !== undefined) anchors.add(node.anchor)
    },
  })
  return found
}

function syntaxProblem(found: YAMLError, text: string, at: (offset: number) => SourcePosition): Problem {
  const [start] = found.pos
  return { at: at(start), text: syntaxText(found, text.slice(start)) }
}

function syntaxText({ code, message }: YAMLError, rest: string): string {
  switch (code) {
    case 'DUPLICATE_KEY': {
      const key = /^(?:"([^"\n]*)"|'([^'\n]*)'|([^\s:,{}[\]]+))/.exec(rest)
      return `duplicate key '${key?.[1] ?? key?.[2] ?? key?.[3] ?? ''}'`
    }
    case 'TAG_RESOLVE_FAILED':
      return message.replace(/^Unresolved tag: (.*)$/, 'unknown tag $1')
    case 'BLOCK_AS_IMPLICIT_KEY':
      return "a second ': ' in one line; quote text that contains one"
    case 'TAB_AS_INDENT':
      return 'a tab cannot indent YAML; use spaces'
    default:
      return message.charAt(0).toLowerCase() + message.slice(1)
  }
}

function thrownText(cause: unknown): string {
  if (cause instanceof RangeError) return tooDeep
  const message = cause instanceof Error ? cause.message : String(cause)
  return /alias count/.test(message)
    ? 'its aliases expand to far too much'
    : message.charAt(0).toLowerCase() + message.slice(1)
}

function byPosition(a: Problem, b: Problem): number {
  return (a.at.line ?? 0) - (b.at.line ?? 0) || (a.at.column ?? 0) - (b.at.column ?? 0)
}
