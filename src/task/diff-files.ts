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
  return diff.split(/^diff --git .*\n/m).flatMap((text) => {
    const all = text.split('\n')
    // An added line may look like a heading.
    const at = all.findIndex((line) => line.startsWith('+++ '))
    if (at < 0) return []
    const [first = '', ...lines] = all.slice(at)
    const marked = (marks: RegExp) => lines.filter((line) => marks.test(line)).map((line) => line.slice(1))
    return {
      // In quotes when the name has one.
      path: first.replace(/^\+\+\+ "?(?:b\/)?/, '').replace(/"?\s*$/, ''),
      added: marked(/^\+/),
      removed: marked(/^-/),
      shown: marked(/^[ +]/),
    }
  })
}
