import { type Command, forEachChild, type SyntaxNode, type Word, type WordPart } from 'unbash'
import { isKnown, unknownPart } from './unknown-part.ts'

/** One simple command without quotes, so equivalent commands are equal. */
export interface SimpleCommand {
  readonly assignments: readonly { readonly name: string; readonly text: string }[]
  /** What only the shell can expand keeps its spelling behind a mark, so it never equals a literal word. */
  readonly words: readonly string[]
  /** It reads a here-document or a here-string. */
  readonly fed: boolean
}

export function simpleCommand(command: Command): SimpleCommand {
  const words = command.name === undefined ? [] : [wordText(command.name)]
  const assignments: { name: string; text: string }[] = []
  for (const item of command.prefix)
    if (item.type === 'Assignment') assignments.push({ name: item.name, text: item.text })
  for (const argument of command.args)
    words.push(argument.type === 'Assignment' ? argument.text : wordText(argument))
  const fed = command.redirects.some(({ type }) => type === 'HereDoc' || type === 'HereString')
  return { assignments, words, fed }
}

/** Every simple command of a script, however deep. */
export function simpleCommandsIn(node: SyntaxNode): readonly Command[] {
  const found: Command[] = []
  const visit = (child: SyntaxNode): void => {
    if (child.type === 'Command') found.push(child)
    forEachChild(child, visit)
  }
  visit(node)
  return found
}

/** The literal text of a word; null when only the shell knows it. */
export function literalWord(word: Word): string | null {
  const text = wordText(word)
  return isKnown(text) ? text : null
}

/** What only the shell can expand is behind a mark. */
export function wordText(word: Word): string {
  return word.parts === undefined ? word.value : word.parts.map(partText).join('')
}

function partText(part: WordPart): string {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value
    case 'DoubleQuoted':
      return part.parts
        .map((child) => (child.type === 'Literal' ? child.value : `${unknownPart}"${child.text}`))
        .join('')
    default:
      return unknownPart + part.text
  }
}
