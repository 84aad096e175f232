import { kindOfCommand } from '../../core/kind-of-command.ts'

const maxLength = 500

/** A longer line declares nothing, because people do not write such lines. */
export const maxLineLength = 1000

const program =
  /^(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*(?:\.{0,2}\/)?(?:\.venv\/)?[A-Za-z0-9_@][\w.@+-]*(?:\/[\w.@+-]+)*$/

/** Programs that run until a user stops them. */
const neverEnds = /\s--(?:watch(?:-?all)?|ui)(?:[\s=]|$)|[\s:]watch(?:\s|$)/i

const fileName = /\.(?:md|mdx|txt|rst|json|jsonc|ya?ml|toml|ini|cfg|lock|html?|css|xml|csv)$/i

/**
 * Whether a shell could run this text. Documents quote many other things: paths, names, code with placeholders. `alone`: nothing else is on
 * the line, so even one unknown word is meant as a command.
 */
export function looksLikeCommand(
  text: string,
  { alone = false }: { readonly alone?: boolean } = {},
): boolean {
  const command = text.trim()
  if (command === '' || command.length > maxLength || /[\0-\x1f\x7f]/.test(command)) return false
  if (hasPlaceholder(command) || neverEnds.test(command)) return false
  const words = command.split(/\s+/)
  const first = words.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word))
  const name = words[first]
  if (name === undefined || !program.test(name) || fileName.test(name)) return false
  if (words.length > first + 1) return true
  return kindOfCommand(command) !== 'other' || name.startsWith('./') || name.endsWith('.sh') || alone
}

/** `<file>`, `{name}`, `[options]`, `path/to/…`: placeholders. `./...` is Go syntax. */
function hasPlaceholder(command: string): boolean {
  return (
    /<[\w .-]+>|\{[\w .-]+\}(?!\})|\s\[[\w .-]+\]|…|path\/to\/|\b(?:test_name|test_file|TestClass|TestName)\b/.test(
      command,
    ) || /(?:^|[^/.])\.{3}/.test(command)
  )
}

export interface MarkdownLine {
  readonly text: string
  /** From 1. */
  readonly number: number
}

/**
 * Lines of a Markdown text outside of code fences and comments, without byte order mark and carriage returns. An unclosed fence or comment
 * hides nothing: otherwise three characters could make a plan look empty.
 */
export function markdownLines(given: string): readonly MarkdownLine[] {
  const lines = (given.startsWith('\uFEFF') ? given.slice(1) : given).split(/\r\n|\r|\n/)
  const closers = lastClosers(lines)
  const found: MarkdownLine[] = []
  let fence: { readonly char: string; readonly length: number } | null = null
  let inComment = false
  for (const [index, text] of lines.entries()) {
    if (fence !== null) {
      const marker = closer(text)
      if (marker !== null && marker.char === fence.char && marker.length >= fence.length) fence = null
      continue
    }
    if (inComment) {
      inComment = !text.includes('-->')
      continue
    }
    const opens = opener(text)
    if (opens !== null && (closers.fences[opens.char]?.[index + 1] ?? 0) >= opens.length) {
      fence = opens
      continue
    }
    if (/^ {0,3}<!--/.test(text)) {
      const rest = text.slice(text.indexOf('<!--') + 4)
      if (rest.includes('-->')) continue
      if (index < closers.comment) {
        inComment = true
        continue
      }
    }
    found.push({ text, number: index + 1 })
  }
  return found
}

interface Marker {
  readonly char: string
  readonly length: number
}

function opener(text: string): Marker | null {
  const match = /^ {0,3}(`{3,})[^`]*$|^ {0,3}(~{3,})/.exec(text)
  const run = match?.[1] ?? match?.[2]
  return run === undefined ? null : { char: run.charAt(0), length: run.length }
}

function closer(text: string): Marker | null {
  const run = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(text)?.[1]
  return run === undefined ? null : { char: run.charAt(0), length: run.length }
}

/** For each line, the longest later fence of each kind that could close one, and the last line that closes a comment. */
function lastClosers(lines: readonly string[]): {
  readonly fences: Readonly<Record<string, readonly number[]>>
  readonly comment: number
} {
  const fences = { '`': [0], '~': [0] }
  for (const text of lines.toReversed()) {
    const marker = closer(text)
    for (const char of ['`', '~'] as const) {
      const above = fences[char].at(-1) ?? 0
      fences[char].push(marker?.char === char ? Math.max(above, marker.length) : above)
    }
  }
  return {
    fences: { '`': fences['`'].reverse(), '~': fences['~'].reverse() },
    comment: lines.findLastIndex((text) => text.includes('-->')),
  }
}

interface Heading {
  readonly level: number
  readonly text: string
}

/** null when the line is not a heading. */
export function headingOf(text: string): Heading | null {
  const match = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(text)
  if (match === null) return null
  return { level: match[1]?.length ?? 1, text: withoutClosing(text.slice(match[0].length).trim()) }
}

/** `## Heading ##`. Parsed by hand, because a hostile line could make a regular expression very slow. */
function withoutClosing(text: string): string {
  let end = text.length
  while (text[end - 1] === '#') end -= 1
  return end === 0 || text[end - 1] === ' ' || text[end - 1] === '\t' ? text.slice(0, end).trim() : text
}
