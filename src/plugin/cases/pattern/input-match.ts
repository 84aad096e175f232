import type { ToolPattern } from '../../generate/contract.ts'
import { compileJsPattern } from './compile-js-pattern.ts'

export type InputMatch =
  | { readonly kind: 'ok'; fits(input: unknown): boolean }
  | { readonly kind: 'bad'; readonly message: string }

/** What `input_match` wants of the input of a call: a pattern over its JSON, or values that must stand in it. */
export function inputMatch(match: ToolPattern['input_match']): InputMatch {
  if (match === undefined) return { kind: 'ok', fits: () => true }
  if (typeof match !== 'string') return { kind: 'ok', fits: (input) => holds(input, match) }
  const compiled = compileJsPattern(match)
  if (compiled.kind === 'bad') return compiled
  return { kind: 'ok', fits: (input) => compiled.pattern.test(JSON.stringify(input) ?? '') }
}

/** Every value that is named stands in the input at that place. */
function holds(input: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return input === wanted
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(wanted).every(([key, value]) => holds((input as Record<string, unknown>)[key], value))
}
