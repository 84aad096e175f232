import { type Command, type For, forEachChild, parse, type SyntaxNode, type Word } from 'unbash'
import { literalWord, simpleCommand } from './simple-command.ts'

const maxWords = 20
const maxChars = 20_000

/** Names in a directory, given as the script has it; null when there is none. */
export type ListDirectory = (directory: string) => readonly string[] | null

/**
 * The script with each loop over fixed words, such as `for name in lint test; do npm run $name; done`, written out, and with `list` each
 * loop over what is in a directory, such as `for p in packages/*`.
 */
export function unrollLoops(script: string, list: ListDirectory = () => null): string {
  if (!/\bfor\b/.test(script)) return script
  const parsed = parse(script)
  if (parsed.errors !== undefined) return script
  const loops: For[] = []
  const find = (node: SyntaxNode): void => {
    if (node.type === 'For') loops.push(node)
    else forEachChild(node, find)
  }
  find(parsed)
  return loops.reduceRight((text, loop) => {
    const body = writtenOut(loop, script, list)
    return body === null ? text : `${text.slice(0, loop.pos)}{ ${body}\n}${text.slice(loop.end)}`
  }, script)
}

/** null when the loop may end early, sets its variable itself, or does not use it. */
function writtenOut(
  { name: { text: name }, wordlist = [], body }: For,
  script: string,
  list: ListDirectory,
): string | null {
  const words = wordlist.flatMap<string | null>((word) => expanded(word, list) ?? literalWord(word))
  if (!/^[a-z]\w*$/.test(name) || words.length === 0 || words.length > maxWords) return null
  const uses: { readonly pos: number; readonly end: number }[] = []
  const isOther = (node: SyntaxNode): boolean => {
    if (node.type === 'SimpleExpansion' || node.type === 'ParameterExpansion') {
      if (node.text === `$${name}` || node.text === `\${${name}}`) uses.push(node)
      return node.text.includes(`{${name}`) && node.text !== `\${${name}}`
    }
    let found =
      node.type === 'For' ||
      node.type.startsWith('Arithmetic') ||
      (node.type === 'Command' && steers(node, name))
    forEachChild(node, (child) => {
      found ||= isOther(child)
    })
    return found
  }
  if (isOther(body) || uses.length === 0) return null
  const { pos, end } = body
  if (script.slice(pos, end).includes('<<')) return null
  const once = (word: string): string =>
    uses
      .toSorted((a, b) => b.pos - a.pos)
      .reduce(
        (text, use) => text.slice(0, use.pos - pos) + word + text.slice(use.end - pos),
        script.slice(pos, end),
      )
  const isPlain = (word: string | null): word is string =>
    word !== null && /^[\w@%+:,./][\w@%+:,./-]*$/.test(word)
  const text = words.every(isPlain) ? words.map(once).join('\n') : null
  return text === null || text.length > maxChars ? null : text
}

/** What the shell makes of `packages/*` and `packages/*\/`; null for other words, and where nothing is there. */
function expanded(word: Word, list: ListDirectory): readonly string[] | null {
  const [, directory, slash = ''] = /^([\w@.-]+(?:\/[\w@.-]+)*)\/\*(\/?)$/.exec(word.text) ?? []
  const names = directory === undefined ? [] : (list(directory) ?? [])
  const seen = names.filter((name) => !name.startsWith('.'))
  return seen.length === 0 ? null : seen.map((name) => `${directory}/${name}${slash}`)
}

/** Leaves the loop with success, or may change the variable. */
function steers(command: Command, name: string): boolean {
  const { assignments, words } = simpleCommand(command)
  const [program = '', code = ''] = words
  return (
    /^(?:break|continue|return|read|mapfile|readarray|getopts|let|unset|command|builtin|eval|source|\.|local|declare|export|typeset|printf)$/.test(
      program,
    ) ||
    (program === 'exit' && !/^[1-9]\d{0,2}$/.test(code)) ||
    assignments.some((each) => each.name === name)
  )
}
