import { stripVTControlCharacters } from 'node:util'
import type { ToolOutcome } from '../../core/hook-event.ts'
import { sha256 } from '../../io/sha256.ts'
import { normaliseLine } from './normalise-line.ts'

const signatureChars = 16
const maxEndChars = 40_000
/** Fewer letters tell nothing about what went wrong. */
const minLetters = 8

/** Begins the signature of an outcome that says nothing: two commands that both fail silently have no error in common. */
export const bareOutcome = 'bare'

/**
 * The same for the same error again. Times, durations, ids, temporary paths, places in files and idle numbers do not
 * count, nor does the order of lines; how many tests failed and what an assertion compared does, since a change there is progress.
 */
export function outcomeSignature({ output, exitCode, kind }: ToolOutcome): string {
  const lines = new Set<string>()
  for (const line of stripVTControlCharacters(ends(output)).split(/[\r\n]+/)) {
    const normalised = normaliseLine(line)
    if (normalised !== '') lines.add(normalised)
  }
  const text = [...lines].sort().join('\n')
  const ending = exitCode ?? kind
  if (!hasLetters(text)) return `${bareOutcome}-${ending}-${sha256(text).slice(0, 8)}`
  return sha256(`${ending}\n${text}`).slice(0, signatureChars)
}

/** Errors stand at the ends of a long output; its middle is passed over. */
function ends(output: string): string {
  if (output.length <= 2 * maxEndChars) return output
  return `${output.slice(0, maxEndChars)}\n${output.slice(-maxEndChars)}`
}

function hasLetters(text: string): boolean {
  const words = text.replaceAll(/<\w+>/g, '')
  // Letters of English mostly settle it; to compile the pattern for those of all languages takes a hook half a millisecond.
  if (words.replaceAll(/[^A-Za-z]/g, '').length >= minLetters) return true
  if (/^[\0-\x7f]*$/.test(words)) return false
  return words.replaceAll(/[^\p{L}]/gu, '').length >= minLetters
}
