import { compilePattern } from '../../core/pattern.ts'
import { longestPattern, scorePattern, unsafePoints } from '../sanitize/score-pattern.ts'

/**
 * Whether a hook group with this matcher fires for a value of its event (the name of a tool, the source of a session, …), as
 * Claude Code decides it. Case-sensitive. The caller checks whether the event supports matchers at all.
 */
export function hookMatches(matcher: string | null | undefined, value: string): boolean {
  const read = readMatcher(matcher)
  if (read.kind === 'all' || read.kind === 'broken') return read.kind === 'all'
  return spellings(value).some(read.kind === 'names' ? (one) => read.names.includes(one) : read.test)
}

export type Matcher =
  | { readonly kind: 'all' }
  /** Exact names; an empty list matches nothing. */
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'pattern'; readonly test: (value: string) => boolean }
  /** Matches nothing. */
  | { readonly kind: 'broken'; readonly why: string }

export function readMatcher(matcher: string | null | undefined): Matcher {
  if (matcher === null || matcher === undefined || matcher === '' || matcher === '*') return { kind: 'all' }
  const known = read.get(matcher)
  if (known !== undefined) return known
  const found = listShape.test(matcher) ? namesOf(matcher) : patternOf(matcher)
  if (read.size >= mostKept) read.clear()
  read.set(matcher, found)
  return found
}

/** Made of these alone it is a name or a list of names; with anything else it is a regular expression. */
const listShape = /^[A-Za-z0-9_ ,|-]*$/

const read = new Map<string, Matcher>()
const mostKept = 256

function namesOf(matcher: string): Matcher {
  const names = matcher.split(/[|,]/).map((name) => name.trim())
  return { kind: 'names', names: names.filter((name) => name !== '') }
}

/**
 * An unanchored JavaScript expression. One that could backtrack forever runs in a linear engine; if that does not support it
 * either, the matcher counts as broken.
 */
function patternOf(source: string): Matcher {
  let pattern: RegExp
  try {
    pattern = new RegExp(source)
  } catch (cause) {
    return { kind: 'broken', why: cause instanceof Error ? cause.message : String(cause) }
  }
  if (source.length > longestMatcher) return { kind: 'broken', why: `it has ${source.length} characters` }
  const plain: Matcher = { kind: 'pattern', test: (value) => pattern.test(value) }
  const repetitions = source.match(/[*+}]/g)?.length ?? 0
  const isNested = source.length > longestPattern || scorePattern(source).points >= unsafePoints
  if (!isNested && repetitions <= harmlessRepetitions) return plain
  const linear = compilePattern(source)
  if (linear.kind === 'ok') return { kind: 'pattern', test: linear.pattern.test }
  if (!isNested && repetitions <= bearableRepetitions) return plain
  return { kind: 'broken', why: 'its repetitions can take forever' }
}

/** Enough for the tools of a hundred servers by name. */
export const longestMatcher = 10_000

/** Each further one multiplies the time by the length of the name. */
const harmlessRepetitions = 3
const bearableRepetitions = 5

/** The subagent tool was renamed, and matchers with either name still match. */
function spellings(value: string): readonly string[] {
  if (value === 'Agent') return ['Agent', 'Task']
  return value === 'Task' ? ['Task', 'Agent'] : [value]
}
