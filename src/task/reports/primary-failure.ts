import { stripVTControlCharacters } from 'node:util'
import { shorten } from '../../core/shorten.ts'

const maxChars = 300

/** Strongest first. Of several lines of the strongest kind found the first is taken: what follows is mostly its consequence. */
const kinds: readonly RegExp[] = [
  /^(?:Uncaught |Unhandled )?(?:[A-Za-z_][\w.]*)?(?:Error|Exception|Failure|Panic)\b(?: \[[\w]+\])?:/,
  /^E {2,}\S|^(?:thread '.*' )?panicked at|^panic:|\bAssertion .*failed\b|^AssertionError\b/i,
  /\berror(?: TS\d+|\[E\d+\])?: |: (?:fatal )?error: |\bundefined reference to\b|\bSyntaxError\b/,
  /^\s*(?:not ok|✗|✖|×|--- FAIL:|FAIL(?:ED)?\b)\s*\S/,
  /\bcommand not found\b|\bNo such file or directory\b|\bcannot find (?:module|package)\b|\bPermission denied\b|\bSegmentation fault\b|\bKilled\b/i,
  /\btimed out\b|\btimeout\b/i,
  /\b(?:fail(?:ed|ure|ing)?|errors?|cannot|unexpected|not found)\b/i,
]

/** What frames the output in a log of the Verifier says nothing about the failure. */
const frame = /^(?:=+|-{3,}(?: exit code\b.*)?$|\$ |#{1,3} |exit code\b|command\b:?|step \d+)/i
const harmless = /\b0 (?:errors?|failed|failures)\b|\bno errors\b/i

/** The line of a log that says most about why it failed; null when the log is empty. */
export function primaryFailure(log: string): string | null {
  const lines = stripVTControlCharacters(log)
    .split(/\r\n|[\n\r]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const told = lines.filter((line) => !frame.test(line) && !harmless.test(line))
  for (const kind of kinds) {
    const found = told.find((line) => kind.test(line))
    if (found !== undefined) return shorten(found, maxChars)
  }
  const last = told.at(-1) ?? lines.at(-1)
  return last === undefined ? null : shorten(last, maxChars)
}
