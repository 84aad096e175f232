/**
 * The simple commands of a shell line as words, by its operators and quotes alone: enough to tell looking from acting where
 * a mistake costs one warning more or less. null when it writes to a file or does what cannot be told at a glance.
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
  return commands.map(bare).filter((words) => words.length > 0)
}

const token =
  /\s+|&&|\|\||[;|\n()]|&(?!>)|(?:\d|&)?(?:>>|>|<)(?:&\d?-?)?|(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\;|&()<>])+|["'\\]/g
const redirection = /^(?:\d|&)?[<>]/
const operator = /^(?:&&|\|\||[;|&()\n])$/
const keywords = new Set(['while', 'until', 'do', 'done', 'if', 'then', 'else', 'fi', '!', '{', '}', 'time'])
/** Words before the command that run it as it is. */
const wrappers = new Set(['sudo', 'nohup', 'command', 'builtin', 'stdbuf', 'nice', 'watch'])

function unquoted(word: string): string {
  return word.replaceAll(/\\(.)|["']/g, '$1')
}

function bare(words: readonly string[]): readonly string[] {
  let at = 0
  for (;;) {
    const word = words[at]
    if (word === undefined) return []
    if (keywords.has(word) || /^\w+=/.test(word)) at += 1
    else if (word === 'timeout' || word === 'gtimeout') at += 2
    else if (word === 'env' && words[at + 1] !== undefined) at += 1
    else if (wrappers.has(word) && words[at + 1] !== undefined) at = afterOptions(words, at + 1)
    else break
  }
  const [program = '', ...args] = words.slice(at)
  return [program.replace(/^.*\//, ''), ...args]
}

function afterOptions(words: readonly string[], from: number): number {
  let at = from
  while (words[at]?.startsWith('-') === true) at += 1
  return at
}
