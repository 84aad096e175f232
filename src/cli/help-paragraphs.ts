import type { AddHelpTextContext } from 'commander'

const minColumns = 40

/**
 * For `addHelpText('after', …)`: paragraphs below the options, with the width of the rest of the help. Line breaks in a paragraph
 * stay, and indented lines, such as examples, are not changed.
 */
export function helpParagraphs(...paragraphs: readonly string[]): (context: AddHelpTextContext) => string {
  return ({ command, error }) => {
    const { getOutHelpWidth, getErrHelpWidth } = command.configureOutput()
    const columns = (error ? getErrHelpWidth : getOutHelpWidth)?.() ?? 80
    const linesOf = (line: string): readonly string[] =>
      line.startsWith(' ') ? [line] : wrapped(line, Math.max(columns, minColumns))
    return paragraphs.map((paragraph) => `\n${paragraph.split('\n').flatMap(linesOf).join('\n')}`).join('\n')
  }
}

/** Help texts have no wide characters, so their length is their width. Measuring would load a library at every start. */
function wrapped(line: string, columns: number): readonly string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`
    if (current !== '' && joined.length > columns) {
      lines.push(current)
      current = word
    } else current = joined
  }
  return [...lines, current]
}
