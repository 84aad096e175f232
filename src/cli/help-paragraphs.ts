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
    const help = command.createHelp()
    const wrapped = (line: string): string =>
      line.startsWith(' ') ? line : help.boxWrap(line, Math.max(columns, minColumns))
    return paragraphs.map((paragraph) => `\n${paragraph.split('\n').map(wrapped).join('\n')}`).join('\n')
  }
}
