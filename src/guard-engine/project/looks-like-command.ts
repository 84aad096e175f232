import { kindOfCommand } from '../../core/kind-of-command.ts'

const maxLength = 500
/** A line that is longer declares nothing: nobody wrote it to be read. */
export const maxLineLength = 1000
const program = /^(?:[A-Za-z_][A-Za-z0-9_]*=\S*\s+)*(?:\.{0,2}\/)?[A-Za-z0-9_@][\w.@+-]*(?:\/[\w.@+-]+)*$/
/** Somebody at the screen ends it. */
const neverEnds = /\s--(?:watch(?:-?all)?|ui)(?:[\s=]|$)|[\s:]watch(?:\s|$)/i
const fileName = /\.(?:md|mdx|txt|rst|json|jsonc|ya?ml|toml|ini|cfg|lock|html?|css|xml|csv)$/i

/**
 * Could a shell run this, as it stands? Documents quote much that is none: paths, names, code with placeholders.
 * `alone`: nothing else stands in its line, so that even one unknown word must be meant as a command.
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

/** `<file>`, `{name}`, `[options]`, `path/to/…`: something is to be filled in. `./...` is Go's own. */
function hasPlaceholder(command: string): boolean {
  return (
    /<[\w .-]+>|\{[\w .-]+\}(?!\})|\s\[[\w .-]+\]|…|path\/to\/|\b(?:test_name|test_file|TestClass|TestName)\b/.test(
      command,
    ) || /(?:^|[^/.])\.{3}/.test(command)
  )
}
