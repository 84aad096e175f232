/** A string in the source of a program, including joined pieces: `'.e' + 'nv'` is one. */
export interface Literal {
  readonly value: string
  readonly start: number
  readonly end: number
}

/**
 * The strings of a program in a language with quotes, in order. Joined pieces are put together, escapes and the usual ways of
 * spelling a character by its number or a text by its encoding are undone.
 */
export function literalsOf(code: string): readonly Literal[] {
  const found: Literal[] = []
  for (const match of code.matchAll(literal)) {
    const start = match.index
    const value = textOf(match)
    const last = found.at(-1)
    const end = start + match[0].length
    if (last !== undefined && joins.test(code.slice(last.end, start)))
      found[found.length - 1] = { value: last.value + value, start: last.start, end }
    else found.push({ value, start, end })
  }
  return [
    ...found,
    ...(/join|concat/.test(code) ? joinedLists(found, code) : []),
    ...filledIn(found, code),
    ...replacedIn(found, code),
    ...withNames(found, code),
    ...angled(code),
  ]
}

/** `e = 'env'; '.' + e`, `f'.{e}'`: with the values of variables that are set to a text. */
function withNames(found: readonly Literal[], code: string): readonly Literal[] {
  const values = new Map<string, string>()
  for (const { value, start } of found) {
    const [, name] = /([A-Za-z_]\w*)\s*=\s*[rbuf]?$/.exec(code.slice(Math.max(0, start - 60), start)) ?? []
    if (name !== undefined && value.length < 200) values.set(name, value)
  }
  if (values.size === 0) return []
  return found.flatMap((literal) => {
    const { value, start, end } = literal
    const inner = value.replaceAll(
      /[$#]?\{\s*(\w+)\s*\}|\$(\w+)/g,
      (whole, braced?: string, plain?: string) => values.get(braced ?? plain ?? '') ?? whole,
    )
    const [tail = '', after] = /^\s*(?:\+|\.\.?|~)?\s*\$?([A-Za-z_]\w*)/.exec(code.slice(end, end + 60)) ?? []
    const [head = '', before] =
      /([A-Za-z_]\w*)\s*(?:\+|\.\.?|~)\s*$/.exec(code.slice(Math.max(0, start - 60), start)) ?? []
    const [last, first] = [values.get(after ?? '') ?? '', values.get(before ?? '') ?? '']
    const whole = `${first}${inner}${last}`
    if (whole === value) return []
    return [
      {
        value: whole,
        start: first === '' ? start : start - head.length,
        end: last === '' ? end : end + tail.length,
      },
    ]
  })
}

/** `'xenv'.replace('x', '.')`. */
function replacedIn(found: readonly Literal[], code: string): readonly Literal[] {
  return found.flatMap((literal, index) => {
    const [from, to] = [found[index + 1], found[index + 2]]
    if (from === undefined || to === undefined || from.value === '') return []
    if (!/^\s*\.replace(?:All)?\(\s*$/.test(code.slice(literal.end, from.start))) return []
    if (!/^\s*,\s*$/.test(code.slice(from.end, to.start))) return []
    return [{ value: literal.value.replaceAll(from.value, to.value), start: literal.start, end: to.end + 1 }]
  })
}

/** Perl's `<.e*>` is a pattern for files. */
function angled(code: string): readonly Literal[] {
  return [...code.matchAll(/<([\w./~-]*[*?[][\w./*?[\]~-]*)>/g)].map(
    ({ 0: whole, 1: value = '', index }) => ({ value, start: index, end: index + whole.length }),
  )
}

/** `'%senv' % '.'`, `'.{}'.format('env')`, `f'.{"env"}'`. */
function filledIn(found: readonly Literal[], code: string): readonly Literal[] {
  return found.flatMap((literal, index) => {
    const { value, start, end } = literal
    const inner = value.replaceAll(/\$?\{\s*(['"])(.*?)\1\s*\}/g, '$2')
    const next = found[index + 1]
    const between = next === undefined ? '' : code.slice(end, next.start)
    const filled =
      next !== undefined && /^\s*(?:%\s*\(?|\.format\()\s*$/.test(between)
        ? inner.replace(/%s|\{\d?\}/, () => next.value)
        : inner
    return filled === value
      ? []
      : [{ value: filled, start, end: filled === inner ? end : (next?.end ?? end) }]
  })
}

/** `['.e', 'nv'].join('')`: also what a list gives when it is put together. */
function joinedLists(found: readonly Literal[], code: string): readonly Literal[] {
  const lists: Literal[] = []
  // `.join('.')` of JavaScript and Ruby, `'.'.join(…)` of Python.
  const by = /\.join\(\s*(['"])([^'"]{0,3})\1\s*\)|(['"])([^'"]{0,3})\3\.join\(/.exec(code)
  const joint = by?.[2] ?? by?.[4] ?? ''
  for (const [index, literal] of found.entries()) {
    const next = found[index + 1]
    const last = lists.at(-1)
    if (next === undefined || !/^\s*,\s*$/.test(code.slice(literal.end, next.start))) continue
    if (last?.end === literal.end)
      lists[lists.length - 1] = { value: last.value + joint + next.value, start: last.start, end: next.end }
    else lists.push({ value: literal.value + joint + next.value, start: literal.start, end: next.end })
  }
  return lists
}

/** Quoted text, then characters by number, then encoded text. */
const literal = new RegExp(
  [
    /(?<prefix>\b[rbuf]{1,2})?(?<quoted>"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|`(?:\\[\s\S]|[^`\\])*`)/,
    /(?:\bchr|\bbytes|\bbytearray|\bmap\s*\(\s*chr\s*,|String\.fromC(?:har|ode)(?:Code|Point)?)\s*(?:\(\s*)?(?:\.{3}\s*)?(?:\[\s*)?(?<numbers>(?:0x[\da-fA-F]+|\d+)(?:\s*,\s*(?:0x[\da-fA-F]+|\d+))*)\s*(?:\]\s*)?\)/,
    /\bq[qwx]?\s*(?:\{(?<braced>[^}]*)\}|\((?<round>[^)]*)\)|\[(?<square>[^\]]*)\]|\/(?<slashed>[^/]*)\/)|%[qQwx][[({](?<percent>[^\])}]*)[\])}]/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** What may be between two pieces of one text: an operator, nothing, `.concat(`, or the comma of a `join('')` or a path. */
const joins = /^\s*(?:\+|\.\.|\.|\s|~|<>|\)?\s*\.concat\()\s*$|^$/

function textOf({ groups = {}, input, index, 0: whole }: RegExpExecArray): string {
  const { prefix, quoted, numbers } = groups
  if (numbers !== undefined)
    return numbers
      .split(',')
      .map((each) => character(Number(each.trim())))
      .join('')
  if (quoted === undefined)
    return groups.braced ?? groups.round ?? groups.square ?? groups.slashed ?? groups.percent ?? ''
  const width = /^(?:"""|''')/.test(quoted) ? 3 : 1
  const raw = quoted.slice(width, -width)
  const text = prefix !== undefined && /r/i.test(prefix) ? raw : unescaped(raw)
  return decoded(
    text,
    (input ?? '').slice(Math.max(0, index - 60), index),
    (input ?? '').slice(index + whole.length, index + whole.length + 60),
  )
}

function character(code: number): string {
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : ''
}

function unescaped(raw: string): string {
  return raw.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|([0-7]{1,3})|([\s\S]))/g,
    (_, hex?: string, braced?: string, unicode?: string, octal?: string, other?: string) => {
      if (other !== undefined) return escapes[other] ?? other
      const digits = hex ?? braced ?? unicode
      return character(digits === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(digits, 16))
    },
  )
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\n': '' }

/** `b64decode('LmVudg==')`, `Buffer.from('2e656e76', 'hex')`, `'vne.'[::-1]`. */
function decoded(text: string, before: string, after: string): string {
  if (
    /(?:b64decode|atob|base64_decode|decode64|urlsafe_b64decode|unpack)\s*\(\s*$/i.test(before) ||
    /^\s*,\s*['"]base64/.test(after) ||
    /^\.unpack1?\(['"]m/.test(after)
  )
    return Buffer.from(text, 'base64').toString('utf8')
  if (/(?:fromhex|unhexlify|hex2bin)\s*\(\s*$/i.test(before) || /^\s*,\s*['"]hex/.test(after))
    return Buffer.from(text, 'hex').toString('utf8')
  if (/(?:decodeURI(?:Component)?|unescape|unquote|url_?decode)\s*\(\s*$/i.test(before))
    return text.replaceAll(/%([\da-fA-F]{2})/g, (_, hex: string) => character(Number.parseInt(hex, 16)))
  const [, from, to] =
    /^\s*(?:\[(\d*):(-?\d*)\]|\.(?:slice|substring|substr)\(\s*(\d+)\s*(?:,\s*(-?\d+))?\s*\))/
      .exec(after)
      ?.filter((part) => part !== undefined) ?? []
  if (from !== undefined)
    return text.slice(Number(from), to === undefined || to === '' ? undefined : Number(to))
  if (/^\s*\.(?:strip|trim)\(\)/.test(after)) return text.trim()
  if (/^\s*\[::-1\]|^\.reverse\b/.test(after) || /strrev\s*\(\s*$/.test(before))
    return [...text].reverse().join('')
  return text
}
