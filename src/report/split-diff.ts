export type FileDiff = ReturnType<typeof fileOf>

/**
 * The files of a unified diff as Gantry writes it: `---`, `+++`, hunks, or a line for a file that is not text. Its last line may say how
 * many more there are.
 */
export function splitDiff(diff: string) {
  const files: FileDiff[] = []
  let part: string[] = []
  const finish = (): void => {
    if (part.length > 0) files.push(fileOf(part))
    part = []
  }
  /** Lines of the hunk still to come: a removed line may look like the head of a file. */
  let [oldLeft, newLeft] = [0, 0]
  for (const line of diff.split('\n')) {
    if (oldLeft > 0 || newLeft > 0) {
      if (line.startsWith('-')) oldLeft -= 1
      else if (line.startsWith('+')) newLeft -= 1
      else if (!line.startsWith('\\')) [oldLeft, newLeft] = [oldLeft - 1, newLeft - 1]
    } else {
      const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line)
      if (hunk !== null) [oldLeft, newLeft] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)]
      else if (/^(?:--- |diff |Binary files |Only in )/.test(line) && !startsHeads(part)) finish()
    }
    part.push(line)
  }
  if (part.at(-1) === '') part.pop()
  const isWhole = oldLeft <= 0 && newLeft <= 0
  const said = isWhole ? /^# ([\d,]+) more files? changed$/.exec(part.at(-1) ?? '')?.[1] : undefined
  if (said !== undefined) part.pop()
  finish()
  /** `more`: changed files that the diff has no room for. */
  return { files, more: Number(said?.replaceAll(',', '') ?? 0) }
}

/** Whether the part has only lines that come before `---` of the same file. */
function startsHeads(part: readonly string[]): boolean {
  return (
    part.length > 0 &&
    part.every((line) =>
      /^(?:diff |index |new file|deleted file|old mode|new mode|similarity|rename)/.test(line),
    )
  )
}

function fileOf(part: readonly string[]) {
  const pathIn = (mark: string): string | undefined =>
    part
      .find((line) => line.startsWith(mark))
      ?.slice(mark.length)
      .split('\t')[0]
  const [before, after] = [pathIn('--- '), pathIn('+++ ')]
  const named = after === undefined || after === '/dev/null' ? before : after
  const isGit = part[0]?.startsWith('diff --git ') === true
  const body = part.slice(part.findIndex((line) => line.startsWith('@@')))
  return {
    path: (isGit ? named?.replace(/^[ab]\//, '') : named) ?? part[0] ?? '',
    added: body.filter((line) => line.startsWith('+')).length,
    removed: body.filter((line) => line.startsWith('-')).length,
    lines: part.length,
    text: `${part.join('\n')}\n`,
  }
}
