import type { Command, Word, WordPart } from 'unbash'

/** One simple command, its quotes resolved: two that a shell would run alike are equal. */
export interface ShellUnit {
  readonly assignments: readonly { readonly name: string; readonly text: string }[]
  readonly words: readonly string[]
  /** Feeds text into it: a here-document or a here-string. */
  readonly fed: boolean
}

export function shellUnit(command: Command): ShellUnit {
  const words = command.name === undefined ? [] : [plainWord(command.name)]
  const assignments: { name: string; text: string }[] = []
  for (const item of command.prefix)
    if (item.type === 'Assignment') assignments.push({ name: item.name, text: item.text })
  for (const argument of command.args) {
    words.push(argument.type === 'Assignment' ? argument.text : plainWord(argument))
  }
  const fed = command.redirects.some(({ type }) => type === 'HereDoc' || type === 'HereString')
  return { assignments, words, fed }
}

/** Words as a key; what only the shell can expand keeps its spelling and never equals a literal. */
export function wordsKey(words: readonly string[]): string {
  return JSON.stringify(words)
}

/** The literal text of a word, or null when only the shell knows it. */
export function literalWord(word: Word): string | null {
  const plain = plainWord(word)
  return plain.includes(expansionMark) ? null : plain
}

export function isLiteral(word: string): boolean {
  return !word.includes(expansionMark)
}

const expansionMark = '\0'

function plainWord(word: Word): string {
  return word.parts === undefined ? word.value : word.parts.map(plainPart).join('')
}

function plainPart(part: WordPart): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
      return part.parts
        .map((child) => (child.type === 'Literal' ? child.value : `${expansionMark}"${child.text}`))
        .join('')
    default:
      return expansionMark + part.text
  }
}
