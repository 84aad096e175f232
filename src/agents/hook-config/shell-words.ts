/** Program and arguments as one line for `sh -c`, for agents that take no list. */
export function shellWords(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

/**
 * The same for a hook that must answer: Codex goes on when it ends with any code but 2, and also with that one when nothing was
 * said. Whatever keeps the program from answering, the line then blocks and says so.
 */
export function blockingLine(words: readonly string[]): string {
  return `${shellWords(words)} || { [ $? = 2 ] || echo '${noAnswer}' >&2; exit 2; }`
}

const noAnswer =
  'Gantry guard: it could not be started, and nothing runs unjudged. Tell the person: `gantry guard status` shows what is wrong.'

/** The words of a line that was made by `shellWords`; of another line something like them. */
export function wordsOfShell(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? []
  return words.map((word) => word.replaceAll(/'([^']*)'|\\(.)/g, (_, inside, escaped) => inside ?? escaped))
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
