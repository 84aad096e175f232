import { isWrapper, unwrap } from '../../shell/wrappers.ts'

/**
 * The simple commands of a shell line as words, read quickly by its operators and quotes: enough to tell reading from changing where
 * a mistake costs one warning more or less. null when it writes to a file or contains a substitution.
 */
export function simpleCommands(line: string): readonly (readonly string[])[] | null {
  const pieces = line.match(token)
  if (pieces === null) return []
  const commands: string[][] = [[]]
  let takesFile: 'read' | 'write' | null = null
  for (const piece of pieces) {
    if (/^\s+$/.test(piece)) continue
    if (piece.includes('$(') || piece.includes('`')) return null
    if (takesFile !== null) {
      if (takesFile === 'write' && piece !== '/dev/null') return null
      takesFile = null
    } else if (redirection.test(piece)) {
      if (!/^\d?[<>]&/.test(piece)) takesFile = piece.includes('>') ? 'write' : 'read'
    } else if (operator.test(piece)) commands.push([])
    else commands.at(-1)?.push(unquoted(piece))
  }
  return commands.flatMap(innerCommands)
}

const token =
  /\s+|&&|\|\||[;|\n()]|&(?!>)|(?:\d|&)?(?:>>|>|<)(?:&\d?-?)?|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;|&()<>])+|["'\\]/g
const redirection = /^(?:\d|&)?[<>]/
const operator = /^(?:&&|\|\||[;|&()\n])$/
const keywords = new Set(['while', 'until', 'do', 'done', 'if', 'then', 'else', 'fi', '!', '{', '}', 'time'])
function unquoted(word: string): string {
  return word.replaceAll(/\\(.)|["']/g, '$1')
}

/** The command without keywords, assignments and wrappers. */
function innerCommands(words: readonly string[]): readonly (readonly string[])[] {
  const at = words.findIndex((word) => !keywords.has(word) && !/^\w+=/.test(word))
  const [program = '', ...args] = at === -1 ? [] : words.slice(at)
  if (program === '') return []
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (!isWrapper(name)) return [[name, ...args]]
  const inner = unwrap(
    name,
    args.map((word) => ({ value: word, text: word })),
  )
  if (inner === null || inner.length === 0) return [[name, ...args]]
  return inner.flatMap((each) =>
    each.kind === 'words'
      ? innerCommands(each.words.map(({ value }) => value))
      : (simpleCommands(each.source) ?? [[name, ...args]]),
  )
}
