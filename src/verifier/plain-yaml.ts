export type PlainValue =
  | string
  | number
  | boolean
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue }

/**
 * The value of a text in the plain part of YAML that short files are written in: mappings, lists, one-line texts, comments. null
 * for everything else, right or wrong, which is the whole parser's to judge. It never answers anything but what that would answer:
 * loading that one takes longer than a small verification.
 */
export function plainYaml(text: string): PlainValue | null {
  if (text.length > maxChars || !/^[\n\x20-\x7e]*$/.test(text)) return null
  try {
    const lines = linesOf(text)
    const [first] = lines
    if (first?.indent !== 0) return null
    const { value, next } = block(lines, 0)
    return next === lines.length ? value : null
  } catch (cause) {
    if (cause === notPlain) return null
    throw cause
  }
}

/** Everything here looks at a text more than once. */
const maxChars = 20_000
const maxBrackets = 100

const notPlain = Symbol('not plain')

interface Line {
  readonly indent: number
  readonly text: string
}

interface Parsed {
  readonly value: PlainValue
  readonly next: number
}

function linesOf(text: string): readonly Line[] {
  return text.split('\n').flatMap((line) => {
    const content = line.trimStart()
    return content === '' || content.startsWith('#')
      ? []
      : [{ indent: line.length - content.length, text: content.trimEnd() }]
  })
}

function block(lines: readonly Line[], from: number): Parsed {
  return lines[from]?.text.startsWith('- ') ? list(lines, from) : mapping(lines, from)
}

function list(lines: readonly Line[], from: number): Parsed {
  const indent = lines[from]?.indent ?? 0
  const items: PlainValue[] = []
  let next = from
  for (let line = lines[next]; line?.indent === indent && line.text.startsWith('- '); line = lines[next]) {
    const item = line.text.slice(2).trimStart()
    if (keyForm.test(item)) {
      // A mapping that begins behind the dash goes on below its first key.
      const inner = { indent: indent + line.text.length - item.length, text: item }
      const end = lines.findIndex((each, index) => index > next && each.indent <= indent)
      const own = [inner, ...lines.slice(next + 1, end === -1 ? lines.length : end)]
      const parsed = mapping(own, 0)
      if (parsed.next !== own.length) throw notPlain
      items.push(parsed.value)
      next += own.length
    } else {
      items.push(inline(item))
      next += 1
    }
  }
  return { value: items, next }
}

const keyForm = /^([A-Za-z_][A-Za-z0-9_]{0,99}):(?: +(.*))?$/

function mapping(lines: readonly Line[], from: number): Parsed {
  const indent = lines[from]?.indent ?? 0
  const found = new Map<string, PlainValue>()
  let next = from
  for (let line = lines[next]; line?.indent === indent; line = lines[next]) {
    const [, key = '', rest = ''] = keyForm.exec(line.text) ?? []
    next += 1
    const below = lines[next]
    if (rest !== '' && !rest.startsWith('#')) {
      add(found, key, inline(rest))
      continue
    }
    const isBlock = below !== undefined && (below.indent > indent || isListAt(below, indent))
    if (!isBlock) throw notPlain
    const parsed = block(lines, next)
    add(found, key, parsed.value)
    next = parsed.next
  }
  // What is further in would go on with the last value.
  if ((lines[next]?.indent ?? 0) > indent) throw notPlain
  return { value: Object.fromEntries(found), next }
}

function isListAt({ indent, text }: Line, at: number): boolean {
  return indent === at && text.startsWith('- ')
}

/** Words that are no text where a key is wanted either. */
const special = /^(?:true|false|null|yes|no|on|off|y|n|__proto__)$/i

function add(found: Map<string, PlainValue>, key: string, value: PlainValue): void {
  if (key === '' || special.test(key) || found.has(key)) throw notPlain
  found.set(key, value)
}

/** A value that ends with its line. */
function inline(text: string): PlainValue {
  if (!/^[[{'"]/.test(text)) return scalar(text.replace(/ +#.*$/, ''), blockText)
  if (text.split(/[[{]/).length > maxBrackets) throw notPlain
  const { value, end } = flow(text, 0)
  if (!/^(?: *$| +#)/.test(text.slice(end))) throw notPlain
  return value
}

interface Flow {
  readonly value: PlainValue
  readonly end: number
}

function flow(text: string, at: number): Flow {
  switch (text[at]) {
    case '{':
      return flowMapping(text, at + 1)
    case '[':
      return flowList(text, at + 1)
    case '"':
    case "'":
      return quoted(text, at)
    default: {
      const [plain = ''] = /^[^,[\]{}'"]*/.exec(text.slice(at)) ?? []
      return { value: scalar(plain.trimEnd(), flowText), end: at + plain.length }
    }
  }
}

function flowMapping(text: string, from: number): Flow {
  const found = new Map<string, PlainValue>()
  for (let at = from; ; ) {
    const [whole = '', key = ''] = /^ *([A-Za-z_][A-Za-z0-9_]{0,99}): +/.exec(text.slice(at)) ?? []
    const { value, end } = flow(text, at + whole.length)
    add(found, key, value)
    const [mark = '', sign = ''] = /^ *([,}])/.exec(text.slice(end)) ?? []
    at = end + mark.length
    if (sign === '}') return { value: Object.fromEntries(found), end: at }
    if (sign !== ',') throw notPlain
  }
}

function flowList(text: string, from: number): Flow {
  const items: PlainValue[] = []
  for (let at = from; ; ) {
    const { value, end } = flow(text, at + (/^ */.exec(text.slice(at))?.[0].length ?? 0))
    items.push(value)
    const [mark = '', sign = ''] = /^ *([,\]])/.exec(text.slice(end)) ?? []
    at = end + mark.length
    if (sign === ']') return { value: items, end: at }
    if (sign !== ',') throw notPlain
  }
}

function quoted(text: string, at: number): Flow {
  const quote = text[at] ?? ''
  const end = text.indexOf(quote, at + 1)
  const value = text.slice(at + 1, end)
  if (end === -1 || value.includes('\\') || text[end + 1] === quote || text[end + 1] === ':') throw notPlain
  return { value, end: end + 1 }
}

const blockText = /^[A-Za-z/._$(][^#]*$/
const flowText = /^[A-Za-z/._$(][^#,[\]{}]*$/

function scalar(text: string, form: RegExp): PlainValue {
  if (/^(?:0|[1-9]\d{0,14})$/.test(text) || /^(?:0|[1-9]\d{0,8})\.\d{1,6}$/.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  const isNumberLike = /^[-+.]?[\d.]/.test(text) || /^\.(?:inf|nan)$/i.test(text)
  if (isNumberLike && !/^\.\.?\//.test(text)) throw notPlain
  if (!form.test(text) || special.test(text) || /:(?: |$)/.test(text)) throw notPlain
  return text
}
