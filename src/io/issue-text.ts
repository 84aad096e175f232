import type { z } from 'zod'
import { nearest } from '../core/nearest.ts'

const words: Readonly<Record<string, string>> = {
  object: 'a mapping',
  record: 'a mapping',
  map: 'a mapping',
  array: 'a list',
  tuple: 'a list',
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'nothing',
}

/** One complaint of a schema about `value` in words that fit a YAML file, without the path. */
export function issueText(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${words[issue.expected] ?? issue.expected}${received(value)}`
    case 'invalid_value':
      return oneOf(issue.values, value)
    case 'invalid_union':
      return unionText(issue, value)
    case 'too_small':
      return boundText(issue.origin, 'at least', Number(issue.minimum), issue.inclusive ?? true)
    case 'too_big':
      return boundText(issue.origin, 'at most', Number(issue.maximum), issue.inclusive ?? true)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      if (issue.format !== 'regex') return `is not a valid ${issue.format}`
      // A schema that says what it misses says it better than its pattern does.
      return issue.message.startsWith('Invalid string')
        ? `must match ${issue.pattern ?? 'its pattern'}`
        : issue.message
    case 'unrecognized_keys':
      return `unknown key '${issue.keys.join("', '")}'`
    case 'invalid_key':
    case 'invalid_element':
      return issue.issues.map((inner) => issueText(inner, undefined)).join('; ')
    case 'custom':
      return issue.message
  }
}

function unionText(issue: z.core.$ZodIssueInvalidUnion, value: unknown): string {
  if ('options' in issue && Array.isArray(issue.options)) return oneOf(issue.options, value)
  const alternatives = issue.errors.flat().flatMap((inner) => {
    if (inner.code === 'invalid_type') return [words[inner.expected] ?? inner.expected]
    if (inner.code === 'invalid_value') return inner.values.map(quote)
    return []
  })
  if (alternatives.length === 0) return 'does not match any of the allowed forms'
  return `expected ${[...new Set(alternatives)].join(' or ')}${received(value)}`
}

function oneOf(values: readonly unknown[], value: unknown): string {
  const allowed = values.length === 1 ? values.map(quote).join('') : `one of ${values.map(quote).join(', ')}`
  const near = typeof value === 'string' ? nearest(value, values.map(String)) : undefined
  const got = typeof value === 'string' ? `, not '${value}'` : received(value)
  return `expected ${allowed}${got}${near === undefined ? '' : `; did you mean '${near}'?`}`
}

function received(value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return ', received nothing'
  if (Array.isArray(value)) return ', received a list'
  if (typeof value === 'number' && !Number.isFinite(value)) return `, received ${value}, which is none`
  if (typeof value === 'number') return `, received the number ${value}`
  if (typeof value === 'boolean') return `, received ${value}`
  return `, received ${words[typeof value] ?? typeof value}`
}

function boundText(origin: string, bound: 'at least' | 'at most', limit: number, inclusive: boolean): string {
  const amount = inclusive
    ? `${bound} ${limit}`
    : `${bound === 'at least' ? 'more than' : 'less than'} ${limit}`
  const plural = limit === 1 ? '' : 's'
  switch (origin) {
    case 'string':
      return bound === 'at least' && limit === 1
        ? 'must not be empty'
        : `must have ${amount} character${plural}`
    case 'array':
    case 'set':
      return bound === 'at least' && limit === 1 ? 'must not be empty' : `must have ${amount} item${plural}`
    case 'object':
    case 'map':
      return `must have ${amount} key${plural}`
    default:
      return `must be ${amount}`
  }
}

function quote(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
