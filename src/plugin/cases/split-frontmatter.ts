/** The two parts of a Markdown file, as `claude plugin eval` tells them apart. */
export type SplitText =
  | { readonly kind: 'plain'; readonly body: string }
  | {
      readonly kind: 'split'
      /** With an empty line in place of the first dashes, so that its lines have the numbers they have in the file. */
      readonly yaml: string
      readonly body: string
      /** The line of the file on which the body begins. */
      readonly bodyLine: number
    }
  /** It opens and does not close. */
  | { readonly kind: 'unterminated' }

/** YAML between two lines of three dashes at the top, if there is any, and what stands below it, without white space around it. */
export function splitFrontmatter(given: string): SplitText {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const opening = /^---[ \t]*\r?\n/.exec(text)
  if (opening === null) return { kind: 'plain', body: text.trim() }
  const rest = text.slice(opening[0].length)
  const closing = /^---[ \t]*\r?$/m.exec(rest)
  if (closing === null) return { kind: 'unterminated' }
  const yaml = rest.slice(0, closing.index)
  const below = rest.slice(closing.index + closing[0].length)
  const blank = below.length - below.trimStart().length
  return {
    kind: 'split',
    yaml: `\n${yaml}`,
    body: below.trim(),
    bodyLine: lines(yaml) + 2 + lines(below.slice(0, blank)),
  }
}

function lines(text: string): number {
  return text.split('\n').length - 1
}
