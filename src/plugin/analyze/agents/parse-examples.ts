import type { AgentExample } from '../contract.ts'

export interface Examples {
  readonly examples: readonly AgentExample[]
  /** Lines of the text, from 1, on which a block begins that has no line of the user. */
  readonly withoutUser: readonly number[]
}

/** Every `<example>` block of a text. Never throws, and looks at each character a bounded number of times. */
export function parseExamples(given: string): Examples {
  // Written in one line of YAML without quotes, a line break is two characters.
  const text = given.includes('\n') ? given : given.replaceAll('\\n', '\n')
  const examples: AgentExample[] = []
  const withoutUser: number[] = []
  for (const { block, line } of blocksOf(text)) {
    const example = fromPattern(block) ?? exampleFromLines(block)
    if (example.user_message === '') withoutUser.push(line)
    else examples.push(example)
  }
  return { examples, withoutUser }
}

const opening = '<example>'
const closing = '</example>'
/** An example is a few lines; a longer block is most likely never closed. */
const mostCharacters = 10_000

function* blocksOf(text: string): Generator<{ readonly block: string; readonly line: number }> {
  const lower = text.toLowerCase()
  let line = 1
  let counted = 0
  for (let at = lower.indexOf(opening); at !== -1; ) {
    const from = at + opening.length
    const next = lower.indexOf(opening, from)
    const within = next === -1 ? lower.length : next
    const closed = lower.slice(from, Math.min(within, from + mostCharacters)).indexOf(closing)
    const end = closed === -1 ? Math.min(within, from + mostCharacters) : from + closed
    line += text.slice(counted, at).split('\n').length - 1
    counted = at
    yield { block: text.slice(from, end), line }
    at = next
  }
}

/** The form Claude Code itself writes: context, a quoted line of the user, one of the assistant, perhaps a commentary. */
function fromPattern(block: string): AgentExample | null {
  const found = usual.exec(oneLine(block))?.groups
  if (found === undefined) return null
  const { context = '', user = '', assistant = '', commentary = '' } = found
  return {
    context: oneLine(context),
    user_message: oneLine(user),
    expected_response: oneLine(assistant),
    commentary: oneLine(commentary),
  }
}

const usual =
  /^\s*(?:context:(?<context>[^"<]*?)\s)?\s*user:\s*"(?<user>[^"]+)"\s*assistant:\s*"(?<assistant>[^"]*)"\s*(?:<commentary>(?<commentary>[^<]*)<\/commentary>)?\s*$/i

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

type Part = keyof AgentExample

const partOf: Readonly<Record<string, Part>> = {
  context: 'context',
  user: 'user_message',
  human: 'user_message',
  assistant: 'expected_response',
  commentary: 'commentary',
}

/** Line by line: a label begins a part, which ends at the next label. For blocks in an unusual form. */
function exampleFromLines(block: string): AgentExample {
  const parts = new Map<Part, string[]>()
  let part: Part | null = null
  for (const line of block.split('\n')) {
    const { label, rest } = readLine(line)
    if (label !== null) {
      part = label
      // Only the first turn of each: an example shows when to begin.
      if (parts.has(part)) part = null
      else parts.set(part, [])
    }
    if (part !== null) parts.get(part)?.push(rest)
  }
  const textOf = (wanted: Part): string => unquoted((parts.get(wanted) ?? []).join(' '))
  return {
    context: textOf('context'),
    user_message: textOf('user_message'),
    expected_response: textOf('expected_response'),
    commentary: textOf('commentary'),
  }
}

function readLine(line: string): { readonly label: Part | null; readonly rest: string } {
  const named = /^\s*[*_]{0,2}(context|user|human|assistant|commentary)[*_]{0,2}\s*:[*_]{0,2}(.*)$/i.exec(
    line,
  )
  const tagged = named ?? /^\s*<(commentary|user|assistant|context)>(.*)$/i.exec(line)
  const label = partOf[(tagged?.[1] ?? '').toLowerCase()] ?? null
  return { label, rest: (tagged?.[2] ?? line).replaceAll(/<\/?(?:commentary|user|assistant|context)>/gi, '') }
}

function unquoted(text: string): string {
  const plain = text.replaceAll(/\s+/g, ' ').trim()
  const inside = /^"(.*)"$|^'(.*)'$|^“(.*)”$/.exec(plain)
  return (inside?.[1] ?? inside?.[2] ?? inside?.[3] ?? plain).trim()
}
