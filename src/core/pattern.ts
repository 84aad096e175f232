import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'

/**
 * A user's regular expression. It runs in linear time, so neither a careless pattern nor hostile output can hang Gantry. The syntax is
 * RE2's: no lookaround, no backreferences, inline flags `(?i)`, `(?m)`, `(?s)`.
 */
export interface Pattern {
  readonly source: string
  /** How many capture groups it has. */
  readonly groupCount: number
  /** Whether there is a match anywhere in the text. */
  test(text: string): boolean
  exec(text: string): PatternMatch | null
  matchAll(text: string): PatternMatch[]
}

interface PatternMatch {
  readonly index: number
  readonly text: string
  /** Group 1 comes first; undefined for an unmatched group. */
  readonly groups: readonly (string | undefined)[]
  readonly named: Readonly<Record<string, string | undefined>>
}

export type CompiledPattern =
  | { readonly kind: 'ok'; readonly pattern: Pattern }
  | { readonly kind: 'bad'; readonly message: string; readonly hint?: string }

/** The same few patterns are compiled again in every trial. */
const compiled = new Map<string, CompiledPattern>()
const maxCompiled = 256

export function compilePattern(source: string): CompiledPattern {
  const known = compiled.get(source)
  if (known !== undefined) return known
  if (compiled.size >= maxCompiled) compiled.clear()
  const result = compile(source)
  compiled.set(source, result)
  return result
}

/** Turns text into a pattern that matches exactly this text. */
export function escapePattern(text: string): string {
  return RE2JS.quote(text)
}

function compile(source: string): CompiledPattern {
  try {
    return { kind: 'ok', pattern: patternOf(source, RE2JS.compile(withRe2Escapes(source))) }
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause
    return bad(cause)
  }
}

/** JavaScript's `\u0041` and `\u{41}` are `\x{41}` in RE2. */
function withRe2Escapes(source: string): string {
  return source.replaceAll(
    /\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|.)/gs,
    (whole: string, braced?: string, plain?: string) => {
      const code = braced ?? plain
      return code === undefined ? whole : `\\x{${code}}`
    },
  )
}

function bad(cause: RE2JSException): CompiledPattern {
  const message = cause.message.replace(/^error parsing regexp: /, '')
  const fragment = cause instanceof RE2JSSyntaxException ? (cause.getPattern() ?? '') : ''
  if (!/^(\(\?(=|!|<=|<!|>)|\\([1-9]|k))/.test(fragment)) return { kind: 'bad', message }
  return {
    kind: 'bad',
    message,
    hint: 'Patterns run in linear time, so lookaround and backreferences are not available: write the pattern without them.',
  }
}

function patternOf(source: string, regexp: RE2JS): Pattern {
  return {
    source,
    groupCount: regexp.groupCount(),
    test: (text) => regexp.test(text),
    exec: (text) => {
      const found = regexp.matchAll(text).next()
      return found.done === true ? null : matchOf(found.value)
    },
    matchAll: (text) => Array.from(regexp.matchAll(text), matchOf),
  }
}

function matchOf(match: RegExpMatchArray): PatternMatch {
  const [text = '', ...groups] = match
  return { index: match.index ?? 0, text, groups, named: match.groups ?? {} }
}
