import { compilePattern } from '../../../core/pattern.ts'
import type { ToolPattern } from '../../generate/contract.ts'
import { type Translated, translateJsPattern } from './translate-js-pattern.ts'

/** A pattern of a grader: written for JavaScript, run in linear time. */
export interface JsPattern {
  test(text: string): boolean
  /** How often it is found, one match after the other. */
  count(text: string): number
}

export type CompiledJsPattern =
  | { readonly kind: 'ok'; readonly pattern: JsPattern }
  | { readonly kind: 'bad'; readonly message: string; readonly hint?: string }

const hint =
  'Patterns run in linear time here, whatever text an agent writes; say it without what is named, or in two graders.'

/** `bad` for patterns that JavaScript rejects, and for features that a linear engine does not have. No part is ignored silently. */
export function compileJsPattern(source: string, flags = ''): CompiledJsPattern {
  try {
    new RegExp(source, flags)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    return {
      kind: 'bad',
      message: cause.message.replace(/^Invalid regular expression: /, 'no pattern of JavaScript: '),
    }
  }
  const translated: Translated = translateJsPattern(source, flags)
  if (translated.kind === 'unsupported')
    return {
      kind: 'bad',
      message: `${translated.what} cannot be used in patterns here`,
      hint: translated.hint ?? hint,
    }
  const compiled = compilePattern(translated.source)
  if (compiled.kind === 'bad')
    return { kind: 'bad', message: `the pattern cannot be used here: ${compiled.message}`, hint }
  const { pattern } = compiled
  const isSticky = flags.includes('y')
  // RE2 knows one end of a line, JavaScript four.
  const seen = (text: string): string =>
    flags.includes('m') ? text.replaceAll(/\r\n|[\r\u2028\u2029]/g, '\n') : text
  return {
    kind: 'ok',
    pattern: {
      test: (text) => (isSticky ? pattern.exec(seen(text))?.index === 0 : pattern.test(seen(text))),
      count: (text) => {
        const matches = pattern.matchAll(seen(text))
        return isSticky ? abutting(matches) : matches.length
      },
    },
  }
}

/** With the flag y the first match is at the very beginning, and each next one begins where the last one ended. */
function abutting(matches: readonly { readonly index: number; readonly text: string }[]): number {
  let end = 0
  const gap = matches.findIndex(({ index, text }) => {
    const isApart = index !== end
    end = index + text.length
    return isApart
  })
  return gap === -1 ? matches.length : gap
}

export type InputMatch =
  | { readonly kind: 'ok'; fits(input: unknown): boolean }
  | { readonly kind: 'bad'; readonly message: string }

/** `input_match` of a grader: a pattern over the JSON of the input, or values it must contain. */
export function inputMatch(match: ToolPattern['input_match']): InputMatch {
  if (match === undefined) return { kind: 'ok', fits: () => true }
  if (typeof match !== 'string') return { kind: 'ok', fits: (input) => holds(input, match) }
  const compiled = compileJsPattern(match)
  if (compiled.kind === 'bad') return compiled
  return { kind: 'ok', fits: (input) => compiled.pattern.test(JSON.stringify(input) ?? '') }
}

/** Whether the input contains every value at its path. */
function holds(input: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return input === wanted
  if (typeof input !== 'object' || input === null) return false
  return Object.entries(wanted).every(([key, value]) => holds((input as Record<string, unknown>)[key], value))
}
