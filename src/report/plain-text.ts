import { stripVTControlCharacters } from 'node:util'

/**
 * Makes foreign text safe to print: no escape sequences, no control characters but newline and tab, no marks that reverse the
 * text direction, no lone surrogates. An agent cannot control the terminal with it.
 */
export function plainText(text: string): string {
  if (harmless.test(text)) return text
  return stripVTControlCharacters(text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n'))
    .replaceAll(unseen, '')
    .toWellFormed()
}

/** The same on one line: every run of white space becomes one space. */
export function plainLine(text: string): string {
  return plainText(text).replaceAll(/\s+/g, ' ').trim()
}

/**
 * For logs that a CI service reads: a workflow command of GitHub (`::name::` at the start of a line, `##[name]` anywhere) is
 * broken by a space, so that an agent cannot issue one.
 */
export function withoutCommands(lines: string): string {
  return lines.replaceAll(/^(\s*):(?=:)/gm, '$1: ').replaceAll('##[', '## [')
}

/** The last lines of a text, and the number of lines before them. Reads only the end of a long text. */
export function tailLines(text: string, maxLines: number) {
  const end = text.length > maxTailChars ? text.slice(-maxTailChars) : text
  const all = plainText(end).trimEnd().split('\n')
  const lines = all.slice(-maxLines)
  const before = text.length > maxTailChars ? countNewlines(text, text.length - maxTailChars) : 0
  return { lines, omitted: before + all.length - lines.length }
}

const maxTailChars = 16_384
const harmless = /^[\n\t\x20-\x7e]*$/
const unseen = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g

function countNewlines(text: string, end: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
