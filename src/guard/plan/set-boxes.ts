/** The same text with these boxes ticked or opened; nothing else of it changes, line ends included. Lines count from 1. */
export function setBoxes(text: string, done: ReadonlyMap<number, boolean>): string {
  const parts = text.split(/(\r\n|\r|\n)/)
  for (const [line, isDone] of done) {
    // Between the lines stand their ends.
    const at = (line - 1) * 2
    const part = parts[at]
    if (part !== undefined)
      parts[at] = part.replace(/^(\uFEFF?[-*+] \[)([ xX])(?=\])/, (whole, start: string, mark: string) =>
        (mark !== ' ') === isDone ? whole : `${start}${isDone ? 'x' : ' '}`,
      )
  }
  return parts.join('')
}
