import { FunctionExpressionType, JSONPathEnvironment, JSONPathError, type JSONPathQuery } from 'json-p3'
import { compilePattern } from './pattern.ts'

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

/** What a path selects. A path that does not resolve is `absent`, which is not an error. */
export type JsonSelection =
  | {
      readonly kind: 'found'
      readonly values: readonly JsonValue[]
      /** The path has only names and indices, so it can never select more than one value. */
      readonly singular: boolean
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'bad'; readonly message: string }

export function queryJson(value: unknown, path: string): JsonSelection {
  const query = compileQuery(path)
  if (typeof query === 'string') return { kind: 'bad', message: query }
  try {
    const values = query.query(value as Parameters<JSONPathQuery['query']>[0]).values() as JsonValue[]
    return values.length === 0
      ? { kind: 'absent' }
      : { kind: 'found', values, singular: query.singularQuery() }
  } catch (cause) {
    if (!(cause instanceof JSONPathError)) throw cause
    return { kind: 'bad', message: cause.message }
  }
}

/** What is wrong with a path; null when it is a valid query. */
export function jsonPathProblem(path: string): string | null {
  const query = compileQuery(path)
  return typeof query === 'string' ? query : null
}

function compileQuery(path: string): JSONPathQuery | string {
  if (!path.startsWith('$')) return `a path starts with "$", this one is "${path}"`
  if (/\.$/.test(path)) return `a key is missing after the last "." of "${path}"`
  if (path !== path.trimEnd()) return `there is white space after the path "${path}"`
  try {
    return environment.compile(path)
  } catch (cause) {
    if (!(cause instanceof JSONPathError)) throw cause
    return cause.message
  }
}

// Deeper documents make `..` fail with a message instead of exhausting the stack.
const environment = new JSONPathEnvironment({ maxRecursionDepth: 500 })

// The library's own `match()` and `search()` use backtracking expressions, which a hostile document can hang.
for (const [name, wrap] of [
  ['match', (pattern: string) => `^(?:${pattern})$`],
  ['search', (pattern: string) => pattern],
] as const) {
  environment.functionRegister.set(name, {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call: (text, pattern) => {
      if (typeof text !== 'string' || typeof pattern !== 'string') return false
      const compiled = compilePattern(wrap(pattern))
      return compiled.kind === 'ok' && compiled.pattern.test(text)
    },
  })
}
