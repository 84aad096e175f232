/** A location named by a stack trace or a compiler, with the path as printed. */
export interface LogPlace {
  readonly path: string
  readonly line: number
}

/** `at f (src/a.ts:1:2)`, `src/a.c:3:5: error`, `File "a.py", line 3`, `(a.java:3)`, `src/a.ts(3,1)`. */
const patterns = [
  /File "([^"\n]+)", line (\d+)/g,
  /(?:file:\/\/)?((?:[\w@.-]*[/\\])*[\w@.-]+\.[A-Za-z]{1,6})[:(](\d+)/g,
]
const maxChars = 1_000_000

/** In log order. `/workspace`, the repository inside a sandbox, is removed from the paths. */
export function logPlaces(log: string): readonly LogPlace[] {
  const text = log.slice(-maxChars)
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .sort((a, b) => a.index - b.index)
    .map(([, path = '', line]) => ({
      path: path.replace(/^.*\/workspace\//, '').replace(/^\.\//, ''),
      line: Number(line),
    }))
}
