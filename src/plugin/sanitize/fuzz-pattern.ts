import type { Pattern } from '../../core/pattern.ts'

export interface FuzzOptions {
  readonly timeoutMs: number
  /** Milliseconds that pass; to be replaced only where time must not matter. */
  readonly now?: () => number
}

const length = 2_000
/** A machine that is busy with something else must not make a good pattern look slow. */
const tries = 3

/**
 * Tries a pattern on texts that are known to be hard and answers with the first for which it needs longer than it may, null when
 * there is none. Time is linear in our engine, so what this finds is a pattern that is large, not one that never ends.
 */
export function fuzzPattern(
  pattern: Pattern,
  { timeoutMs, now = () => performance.now() }: FuzzOptions,
): string | null {
  return hardTexts(pattern.source).find((text) => !isQuick(pattern, text, timeoutMs, now)) ?? null
}

function isQuick(pattern: Pattern, text: string, timeoutMs: number, now: () => number): boolean {
  for (let round = 0; round < tries; round++) {
    const start = now()
    pattern.matchAll(text)
    if (now() - start <= timeoutMs) return true
  }
  return false
}

/** Each ends with something that most patterns do not expect, so that every way to match is looked for. */
function hardTexts(source: string): readonly string[] {
  const own = source.replaceAll(/[^A-Za-z0-9@._ -]/g, '') || 'x'
  return [
    `${'a'.repeat(length)}!`,
    `${'0'.repeat(length)}x`,
    `${' \t'.repeat(length / 2)}!`,
    `${'a.b@'.repeat(length / 4)}\u0000`,
    `${own.repeat(Math.ceil(length / own.length)).slice(0, length)}!`,
  ]
}
