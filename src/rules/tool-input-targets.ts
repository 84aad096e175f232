import type { World } from './contract.ts'
import type { CallTargets, WriteTarget } from './shell/effects.ts'
import { interpret } from './shell/interpret.ts'

interface ToolInput {
  readonly tool: string
  readonly input: unknown
  readonly cwd: string
  readonly world: World
}

/**
 * A tool nothing is known of, judged by its name and by what its input names: paths are written to when the name suggests writing,
 * or when content comes along and the name does not say that it only reads.
 */
export function toolInputTargets({ tool, input, cwd, world }: ToolInput): CallTargets {
  const words = nameWords(tool)
  const fields = fieldsOf(input)
  // A tool that does several things says in its input which.
  const asked = fields
    .filter(({ key, value }) => isOperation(key) && value.length < 40)
    .flatMap(({ value }) => nameWords(value))
  const telling = asked.some((word) => writing.has(word) || reading.has(word)) ? asked : words
  const reads = telling.some((word) => reading.has(word))
  const writes =
    telling.some((word) => writing.has(word)) || (!reads && fields.some(({ key }) => isContent(key)))
  const runs = !reads && words.some((word) => running.has(word))
  const hasContent = fields.some(({ key }) => isContent(key))
  const found: CallTargets[] = []
  // Where a result goes is written to, whatever else the tool does.
  const written = writes ? fields : fields.filter(({ key }) => isResult(key))
  found.push({ ...nothing, writes: written.flatMap((field) => target(field)) })
  for (const { key, value } of fields) {
    if (isCommand(key) && (runs || !reads)) found.push(interpret(value, cwd, world))
    if (isCode(key) && runs) for (const each of asCommands(value)) found.push(interpret(each, cwd, world))
  }
  for (const line of commandLines(input)) if (runs || !reads) found.push(interpret(line, cwd, world))
  return {
    writes: found.flatMap((each) => each.writes),
    runs: found.flatMap((each) => each.runs),
    opaque: found.flatMap((each) => each.opaque),
  }

  function target({ key, value }: Field): WriteTarget[] {
    if (!(isPath(key) || (key === '' && !/\s/.test(value))) || value.length > 4096 || value === '') return []
    // What has a name need not be a file.
    if (/^name$/i.test(key) && !hasContent && !words.some((word) => fileWords.has(word))) return []
    if ([...words, ...asked].includes('copy') && isSource(key)) return []
    const path = fromUri(value)
    const below = [...words, ...asked].some((word) => removing.has(word))
      ? { below: { look: absolute(path) } }
      : {}
    return [{ path: absolute(path), how: `the tool ${tool} changes it`, written: value, ...below }]
  }

  function absolute(path: string): string {
    if (path.startsWith('/')) return path
    return path.startsWith('~/') ? `${world.home}${path.slice(1)}` : `${cwd}/${path}`
  }
}

const nothing: CallTargets = { writes: [], runs: [], opaque: [] }

interface Field {
  readonly key: string
  readonly value: string
}

/** Every text in the input with the key it stands under, within bounds. */
function fieldsOf(input: unknown): readonly Field[] {
  const found: Field[] = []
  visit('', input, 0)
  return found

  function visit(key: string, value: unknown, depth: number): void {
    if (found.length >= maxFields || depth > 32) return
    if (typeof value === 'string') {
      found.push({ key, value })
      visit(key, parsed(value), depth + 8)
    } else if (Array.isArray(value)) for (const each of value) visit(key, each, depth + 1)
    else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) {
        // `files: { '.env': 'text' }`: the names of a list are the paths.
        if (isPath(key) && /[./]/.test(name)) found.push({ key, value: name })
        visit(name, each, depth + 1)
      }
  }
}

const maxFields = 500

/** An input within the input, as text. */
function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text) || text.length > 65_536) return null
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A program with its words in a list of their own, or all of them in one. */
function commandLines(input: unknown): readonly string[] {
  if (typeof input === 'string') return [input]
  if (typeof input !== 'object' || input === null) return []
  const lists = Object.entries(input).flatMap(([key, value]): [string, readonly string[]][] =>
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? [[key, value]] : [],
  )
  const program = Object.entries(input).find(
    ([key, value]) => /^(?:command|cmd|program|executable|file)$/i.test(key) && typeof value === 'string',
  )?.[1]
  return lists.flatMap(([key, words]) => {
    if (/^commands$/i.test(key)) return [words.join('\n')]
    if (!/^(?:command|cmd|args|argv|arguments)$/i.test(key)) return []
    const line = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
    return [typeof program === 'string' ? `${program} ${line}` : line]
  })
}

/** Code in a language nobody names: as what the common ones would make of it. */
function asCommands(code: string): readonly string[] {
  const quoted = `'${code.replaceAll("'", "'\\''")}'`
  const lines = [...code.matchAll(/^\s*!(.+)$/gm)].map(([, line = '']) => line)
  return [`python3 -c ${quoted}`, `node -e ${quoted}`, ...lines]
}

/** `mcp__files__writeFile` → mcp, files, write, file. */
function nameWords(tool: string): readonly string[] {
  return tool
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
}

const writing = new Set(
  'write edit create update delete remove move rename copy append insert replace patch put save modify set upload touch truncate chmod mkdir apply overwrite str download extract unzip export multiedit notebookedit unlink rm mv cp add change fix format convert store sync restore revert checkout reset screenshot pdf record capture render generate dump dl'.split(
    ' ',
  ),
)

const fileWords = new Set('file files fs filesystem document dir directory folder notebook path'.split(' '))

const removing = new Set('delete remove move rename rm mv unlink'.split(' '))

const reading = new Set(
  'read get list search find view fetch stat info show describe grep tree cat query diff lookup glob ls inspect check count exists head tail'.split(
    ' ',
  ),
)

const running = new Set(
  'run repl exec execute shell bash command terminal process eval spawn sh cmd'.split(' '),
)

function isPath(key: string): boolean {
  return /(?:path|paths|file|files|filename|filenames|uri|uris|target|targets|dest|destination|dst|output|out|to|notebook|location|source|sources|src|from|name|document|resource|save_?as)$/i.test(
    key,
  )
}

function isSource(key: string): boolean {
  return /^(?:src|source|from|old|input)/i.test(key)
}

function isContent(key: string): boolean {
  return /^(?:content|contents|text|new_?(?:text|string|str|content|source)|file_?text|edits|patch|data|body|replacement|diff|bytes|base64)$/i.test(
    key,
  )
}

function isOperation(key: string): boolean {
  return /^(?:operation|action|method|op|mode|command|verb|type|kind)$/i.test(key)
}

function isResult(key: string): boolean {
  return /^(?:output|out|dest|destination|save)(?:_?(?:path|file|name|to|as|dir))?$|^download_?(?:path|to)$/i.test(
    key,
  )
}

function isCode(key: string): boolean {
  return /^(?:code|source|python|javascript|js|script|expression|cell)$/i.test(key)
}

function isCommand(key: string): boolean {
  return /^(?:command|cmd|script|shell|shell_?command|command_?line)$/i.test(key)
}

function fromUri(value: string): string {
  if (!/^file:/i.test(value)) return value
  const path = value.replace(/^file:(?:\/\/[^/]*)?/i, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
