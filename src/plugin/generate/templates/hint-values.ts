export type HintValues =
  | { readonly kind: 'values'; readonly values: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string }

const maxHint = 1_000

/** One value for each `[x]` and `<x>` of an argument hint; a hint without brackets is one argument. */
export function hintValues(hint: string): HintValues {
  if (hint.length > maxHint)
    return { kind: 'refused', reason: `its argument hint is longer than ${maxHint} characters` }
  const inBrackets = [...hint.matchAll(/\[([^[\]]*)\]|<([^<>]*)>/g)].map(
    ([, square, angle]) => square ?? angle ?? '',
  )
  const words = inBrackets.length > 0 ? inBrackets : [hint]
  return { kind: 'values', values: words.filter((word) => word.trim() !== '').map(valueFor) }
}

/** The first row one of whose words is in the hint decides. */
const table: readonly (readonly [readonly string[], string])[] = [
  [['file', 'files', 'filename', 'filepath'], 'test-file.ts'],
  [['dir', 'dirs', 'directory', 'folder', 'path', 'paths'], './src'],
  [['option', 'options', 'flag', 'flags'], '--verbose'],
  [['url', 'urls', 'link', 'uri'], 'https://example.com'],
  [['name', 'names', 'username', 'title'], 'test-name'],
  [['id', 'ids', 'identifier'], '123'],
  [['number', 'count', 'num', 'limit', 'amount'], '42'],
]

/** A flag or one of several words to choose from stands for itself. */
function valueFor(hint: string): string {
  const words = hint
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const row = table.find(([known]) => known.some((word) => words.includes(word)))
  if (row !== undefined) return row[1]
  const flag = /(?:^|\s)(--?[A-Za-z][\w-]*)/.exec(hint)?.[1]
  if (flag !== undefined) return flag
  const choice = /^\s*([\w-]+)\s*\|/.exec(hint)?.[1]
  return choice ?? 'test-value'
}
