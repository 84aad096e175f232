import type { AddHelpTextContext } from 'commander'
import { wrapText } from '../report/text-width.ts'

const minColumns = 40

/**
 * For `addHelpText('after', …)`: paragraphs below the options, as wide as the rest of the help. A line break in a paragraph stays,
 * and lines that begin with blanks, such as examples, are left as they are.
 */
export function helpParagraphs(...paragraphs: readonly string[]): (context: AddHelpTextContext) => string {
  return ({ command, error }) => {
    const { getOutHelpWidth, getErrHelpWidth } = command.configureOutput()
    const columns = (error ? getErrHelpWidth : getOutHelpWidth)?.() ?? 80
    const wrapped = (line: string): readonly string[] =>
      line.startsWith(' ') ? [line] : wrapText(line, Math.max(columns, minColumns))
    return paragraphs.map((paragraph) => `\n${paragraph.split('\n').flatMap(wrapped).join('\n')}`).join('\n')
  }
}
