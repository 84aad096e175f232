/** The lines of a file in a diff, without their marks. */
export interface DiffFile {
  readonly path: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** Added and unchanged. */
  readonly shown: readonly string[]
}

/** The files of a diff in git's format. */
export function diffFiles(diff: string): readonly DiffFile[] {
  return diff
    .split(/^(?=\+\+\+ )/m)
    .slice(1)
    .map((text) => {
      const [first = '', ...lines] = text.split('\n')
      const marked = (marks: RegExp) => lines.filter((line) => marks.test(line)).map((line) => line.slice(1))
      return {
        path: first.replace(/^\+\+\+ (?:b\/)?/, '').trim(),
        added: marked(/^\+/),
        removed: marked(/^-/),
        shown: marked(/^[ +]/),
      }
    })
}
