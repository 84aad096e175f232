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
import { defined } from '../core/json-fields.ts'

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

export interface BrokenSource {
  readonly kind: 'broken'
  readonly problems: readonly Problem[]
  /** The first error of the parser, if it reported one. */
  readonly cause?: unknown
}

export const tooDeep = 'nested too deeply'

const maxAliases = 100

/** YAML 1.2 (and so JSON) as plain values with their positions. Never throws for any text. */
export function parseYamlSource(given: string, file: string): Source | BrokenSource {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const lines = new LineCounter()
  const at = (offset: number): SourcePosition => {
    const { line, col } = lines.linePos(Math.min(offset, text.length))
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const broken = (problems: readonly Problem[], cause: unknown): BrokenSource =>
    defined({ kind: 'broken', problems, cause })
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
    const problems = syntaxProblems(document, text, at)
    if (second !== undefined)
      problems.push({ at: at(second.range[0]), text: 'a second document starts here; one file holds one' })
    problems.push(...danglingAliases(document, text, at))
    if (problems.length > 0) return broken(problems.sort(byPosition), document.errors[0])
    const value: unknown = isEmpty(document.contents) ? {} : document.toJS({ maxAliasCount: maxAliases })
    return parsed(text, value, at, document)
  } catch (cause) {
    return broken([{ at: at(0), text: thrownText(cause) }], cause)
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

/** Where the errors of the parser are, in plain words. */
function syntaxProblems(document: Document, text: string, at: (offset: number) => SourcePosition): Problem[] {
  const all = [...document.errors, ...document.warnings]
  const tabs = all.filter(({ code }) => code === 'TAB_AS_INDENT')
  // The parser stumbles over what stands behind a tab. A line that is indented too far is also taken for a second key in the line before it.
  const errors =
    tabs.length > 0
      ? tabs
      : all.filter(
          (error) =>
            !(isBehindEnd(error) && error !== all.find(isBehindEnd)) &&
            (error.code !== 'BLOCK_AS_IMPLICIT_KEY' ||
              !all.some(({ code, pos }) => code === 'MULTILINE_IMPLICIT_KEY' && pos[0] === error.pos[0])),
        )
  const open: { readonly kind: string; readonly range: readonly number[] }[] = []
  visit(document, {
    Collection: (_, { flow, range }) => {
      if (flow === true && range != null) open.push({ kind: text[range[0]] ?? '', range })
    },
  })
  /** Inner collections are reported first. */
  const unclosed = ({ message, pos }: YAMLError): Problem | undefined => {
    const [, close] = /^Flow .* end with a ([\]}])$/.exec(message) ?? []
    const index = open.findLastIndex(
      ({ kind, range }) => kind === (close === ']' ? '[' : '{') && range[1] === pos[0],
    )
    const [found] = close === undefined || index === -1 ? [] : open.splice(index, 1)
    return found && { at: at(found.range[0] ?? 0), text: `this ${found.kind} is never closed` }
  }
  const quoted: (readonly [start: number, end: number])[] = []
  if (errors.some(({ code }) => code === 'MISSING_CHAR'))
    visit(document, {
      Scalar: (_, { type, range }) => {
        if ((type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE') && range != null)
          quoted.push([range[0], range[2]])
      },
    })
  return errors.map((found) => {
    const [start] = found.pos
    const isOpen = ([from, to]: readonly [number, number]) => from < start && start <= to + 1
    const quote = found.code === 'MISSING_CHAR' ? quoted.findLast(isOpen) : undefined
    if (quote !== undefined) return { at: at(quote[0]), text: 'this quote is never closed' }
    return unclosed(found) ?? { at: at(start), text: syntaxText(found, text.slice(start)) }
  })
}

/** The parser reports every word of what stands behind the end of a JSON document. */
function isBehindEnd({ code, message }: YAMLError): boolean {
  return code === 'UNEXPECTED_TOKEN' && /in YAML stream|at node end/.test(message)
}

function syntaxText(error: YAMLError, rest: string): string {
  const { code, message } = error
  if (isBehindEnd(error)) return 'unexpected text: the document ends before it'
  if (/without - indicator|items must start at the same column/.test(message))
    return 'the indentation does not fit: align this line with the one above that it belongs to'
  switch (code) {
    case 'MULTILINE_IMPLICIT_KEY':
      return 'the next line continues this value: align it with the keys above, or quote the value'
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

export function byPosition(a: Problem, b: Problem): number {
  return (a.at.line ?? 0) - (b.at.line ?? 0) || (a.at.column ?? 0) - (b.at.column ?? 0)
}
