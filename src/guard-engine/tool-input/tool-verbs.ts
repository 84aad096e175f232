import { type InputField, inputObjects, keyMeanings } from './input-fields.ts'

/** What a tool does, as far as its name and its input show. */
export interface ToolVerbs {
  readonly words: readonly string[]
  readonly reads: boolean
  readonly writes: boolean
  readonly removes: boolean
  readonly copies: boolean
  readonly links: boolean
  /** Runs its input. */
  readonly runs: boolean
  /** Types its input into something that runs it: a terminal, or something that may be one. */
  readonly types: 'surely' | 'perhaps' | null
  /** Works on files, according to its name. */
  readonly onFiles: boolean
}

export function toolVerbs(tool: string, input: unknown, fields: readonly InputField[]): ToolVerbs {
  const words = nameWords(tool)
  // A tool with several functions names one in its input. A tool that calls others names the called one.
  const asked = [
    ...fields.filter(({ key }) => isOperation(key)).map(({ value }) => value),
    ...calledTools(input),
    ...fields.filter(({ key }) => isVerb(key)).map(({ key }) => key),
  ]
    .filter((value) => value.length < 60)
    .flatMap(nameWords)
  const telling = asked.some((word) => writing.has(word) || reading.has(word)) ? asked : words
  const all = new Set([...words, ...asked])
  const reads = telling.some((word) => reading.has(word))
  return {
    words,
    reads,
    writes:
      telling.some((word) => writing.has(word)) ||
      (!reads && fields.some(({ key }) => keyMeanings.isContent(key))),
    removes: anyOf(all, removing),
    copies: all.has('copy'),
    links: anyOf(all, linking),
    runs: !reads && (anyOf(words, running) || anyOf(asked, running)),
    types: anyOf(all, terminals) ? 'surely' : anyOf(all, processes) ? 'perhaps' : null,
    onFiles: anyOf(all, fileWords),
  }
}

function anyOf(words: Iterable<string>, wanted: ReadonlySet<string>): boolean {
  return [...words].some((word) => wanted.has(word))
}

/** `mcp__files__writeFile` → mcp, files, write, file. */
function nameWords(tool: string): readonly string[] {
  return tool
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
}

function isOperation(key: string): boolean {
  return /^(?:operations?|actions?|method|ops?|mode|command|verb|type|kind|tool|tool_?name|function|function_?name)$/i.test(
    key,
  )
}

/** `{ delete: ['a.txt'] }`. */
function isVerb(key: string): boolean {
  return /^(?:write|create|delete|remove|rename|move|append|overwrite)$/i.test(key)
}

/** `{ name: 'delete_file', arguments: { … } }`: the name of another tool. */
function calledTools(input: unknown): readonly string[] {
  return inputObjects(input).flatMap((each) => {
    const { name } = each
    const hasInput = ['arguments', 'args', 'params', 'parameters', 'input'].some(
      (key) => typeof each[key] === 'object' || /^\s*\{/.test(String(each[key] ?? '')),
    )
    return typeof name === 'string' && hasInput ? [name] : []
  })
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/))
}

const linking = wordSet('link symlink hardlink mklink ln')

const removing = wordSet('delete remove move rename rm mv unlink trash destroy erase purge wipe')

const writing = wordSet(
  `write edit create update copy append insert replace patch put save modify set upload touch truncate chmod mkdir apply overwrite
  str download extract unzip export multiedit notebookedit cp add change fix format convert store sync restore revert checkout
  reset screenshot pdf record capture render generate dump dl clear new make ${[...removing, ...linking].join(' ')}`,
)

const fileWords = wordSet('file files fs filesystem document dir directory folder notebook path')

const reading = wordSet(
  'read get list search find view fetch stat info show describe grep tree cat query diff lookup glob ls inspect check count exists head tail',
)

const running = wordSet(
  'run repl exec execute shell bash command terminal process eval evaluate spawn sh cmd python ipython jupyter kernel interpreter javascript',
)

const terminals = wordSet('terminal term tty pty console shell bash tmux keys stdin')

const processes = wordSet('process session repl')
