/** Commands that usually change a file they name. */
const editing =
  /\bsed\b[^|;&]*\s-\w*i|\bperl\b[^|;&]*\s-\w*i|[^0-9&<>-]>{1,2}\s*[\w./~-]|\btee\b|\b(?:cp|mv|patch|truncate|install|dd)\b|\bgit\s+(?:checkout|restore|apply|stash|revert|reset)\b|\bwrite/

const maxPaths = 6

/**
 * Paths that a command names and may have changed, as written. A guess from its words, which is enough to notice a file that goes back and
 * forth: a file that did not change has the content it had before.
 */
export function shellEditedPaths(command: string): readonly string[] {
  if (command.length > 20_000 || !editing.test(` ${command}`)) return []
  const words = command
    .split(/[\s'"`;|&<>()=,]+/)
    .filter((word) => /^[\w@~][\w@./~+-]*$|^\.{1,2}\/[\w@./+-]+$|^\/[\w@./+-]+$|^\.[\w-]+$/.test(word))
  return [...new Set(words.filter((word) => /[./]/.test(word)))].slice(0, maxPaths)
}
