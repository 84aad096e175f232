import type { JsonSelection, JsonValue } from './json-path.ts'

export type JsonAssertion =
  | { readonly kind: 'exists' }
  | { readonly kind: 'equals'; readonly value: JsonValue }
  | { readonly kind: 'contains'; readonly text: string }
  | { readonly kind: 'len'; readonly operator: LengthOperator; readonly length: number }

const comparisons = {
  '>=': (length: number, wanted: number) => length >= wanted,
  '==': (length: number, wanted: number) => length === wanted,
  '<=': (length: number, wanted: number) => length <= wanted,
  '>': (length: number, wanted: number) => length > wanted,
  '<': (length: number, wanted: number) => length < wanted,
}

type LengthOperator = keyof typeof comparisons

export type ParsedAssertion =
  | { readonly kind: 'ok'; readonly assertion: JsonAssertion }
  | { readonly kind: 'bad'; readonly message: string }

export interface AssertionOutcome {
  readonly holds: boolean
  /** Why it fails, or what was found when it passes. */
  readonly reason: string
}

export const assertionForms: readonly string[] = [
  'exists',
  'equals <value>',
  'contains <text>',
  ...Object.keys(comparisons).map((operator) => `len ${operator} N`),
]

export function parseAssertion(source: string): ParsedAssertion {
  const text = source.trim()
  if (text === 'exists') return { kind: 'ok', assertion: { kind: 'exists' } }
  const equals = /^equals\s+(\S.*)$/s.exec(text)?.[1]
  if (equals !== undefined) return { kind: 'ok', assertion: { kind: 'equals', value: jsonOrText(equals) } }
  const contains = /^contains\s+(\S.*)$/s.exec(text)?.[1]
  if (contains !== undefined) return { kind: 'ok', assertion: { kind: 'contains', text: contains } }
  const [, operator, digits] = /^len\s*(>=|==|<=|>|<)\s*(\d{1,15})$/.exec(text) ?? []
  if (isLengthOperator(operator))
    return { kind: 'ok', assertion: { kind: 'len', operator, length: Number(digits) } }
  return {
    kind: 'bad',
    message: `"${text}" is not an assertion; the forms are ${assertionForms.join(', ')} (N is a non-negative integer)`,
  }
}

/** The canonical spelling, which parses to the same assertion. */
export function formatAssertion(assertion: JsonAssertion): string {
  switch (assertion.kind) {
    case 'exists':
      return 'exists'
    case 'equals':
      return `equals ${JSON.stringify(assertion.value)}`
    case 'contains':
      return `contains ${assertion.text}`
    case 'len':
      return `len ${assertion.operator} ${assertion.length}`
  }
}

/**
 * Judges a selection. An empty selection fails every form. A single value is judged directly, several as a list. Only `len` always
 * counts the selected values when the path could select several (a filter, a wildcard, `..`), so its meaning does not depend on how
 * many there are.
 */
export function evaluateAssertion(assertion: JsonAssertion, selection: JsonSelection): AssertionOutcome {
  if (selection.kind === 'bad') return { holds: false, reason: selection.message }
  if (selection.kind === 'absent') return { holds: false, reason: 'the path selects nothing' }
  const { values, singular } = selection
  const [first] = values
  const value = values.length === 1 && first !== undefined ? first : values
  switch (assertion.kind) {
    case 'exists':
      return value === null ? no('the value is null') : yes('the value is present')
    case 'equals':
      return jsonEquals(value, assertion.value) ? yes('the value is equal') : no('the value is different')
    case 'contains':
      return evaluateContains(value, assertion.text)
    case 'len':
      return evaluateLength(singular ? value : values, assertion)
  }
}

/** Structural equality of JSON: the order of members does not matter, that of elements does. */
export function jsonEquals(left: JsonValue, right: JsonValue): boolean {
  const pending: [JsonValue, JsonValue][] = [[left, right]]
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    if (Array.isArray(a) !== Array.isArray(b)) return false
    const members = Object.entries(a)
    if (members.length !== Object.keys(b).length) return false
    const others = new Map(Object.entries(b))
    for (const [key, member] of members) {
      const other = others.get(key)
      if (other === undefined) return false
      pending.push([member, other])
    }
  }
  return true
}

/** In a string: the literal text. In a list: an element equal to the text or to the text parsed as JSON. */
function evaluateContains(value: JsonValue, text: string): AssertionOutcome {
  if (typeof value === 'string')
    return value.includes(text)
      ? yes('the string contains the text')
      : no('the string does not contain the text')
  if (!isList(value)) return no(`contains wants a string or an array, the value is ${kindOf(value)}`)
  const parsed = jsonOrText(text)
  const found = value.some((element) => element === text || jsonEquals(element, parsed))
  return found ? yes('an element is equal to the text') : no('no element is equal to the text')
}

function evaluateLength(
  value: JsonValue,
  { operator, length: wanted }: JsonAssertion & { readonly kind: 'len' },
): AssertionOutcome {
  if (typeof value !== 'object' || value === null)
    return no(`len wants an array or an object, the value is ${kindOf(value)}`)
  const length = isList(value) ? value.length : Object.keys(value).length
  return { holds: comparisons[operator](length, wanted), reason: `the length is ${length}` }
}

function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function isLengthOperator(text: string | undefined): text is LengthOperator {
  return text !== undefined && Object.hasOwn(comparisons, text)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function yes(reason: string): AssertionOutcome {
  return { holds: true, reason }
}

function no(reason: string): AssertionOutcome {
  return { holds: false, reason }
}
