/**
 * The command inside `/bin/bash -lc '…'`, as Codex reports what it ran; the text itself when it is not wrapped like that.
 */
export function unwrapShell(command: string): string {
  const words = splitWords(command)
  if (words === null || words.length !== 3) return command
  const [program = '', flag = '', inner = ''] = words
  return /(^|\/)(ba|z|da|k)?sh$/.test(program) && /^-l?c$/.test(flag) ? inner : command
}

/** POSIX quoting without expansion; null when a quote is left open. */
function splitWords(text: string): readonly string[] | null {
  const words: string[] = []
  let word: string | null = null
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (/\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
      continue
    }
    word ??= ''
    if (char === "'") {
      const end = text.indexOf("'", at + 1)
      if (end === -1) return null
      word += text.slice(at + 1, end)
      at = end
    } else if (char === '"') {
      const quoted = readDoubleQuoted(text, at + 1)
      if (quoted === null) return null
      word += quoted.text
      at = quoted.end
    } else if (char === '\\') {
      at += 1
      word += text.charAt(at)
    } else word += char
  }
  if (word !== null) words.push(word)
  return words
}

function readDoubleQuoted(
  text: string,
  start: number,
): { readonly text: string; readonly end: number } | null {
  let inner = ''
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') return { text: inner, end: at }
    if (char === '\\' && /["\\$`\n]/.test(text.charAt(at + 1))) {
      at += 1
      inner += text.charAt(at)
    } else inner += char
  }
  return null
}
