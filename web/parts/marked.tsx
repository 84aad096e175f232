import type { ReactNode } from 'react'

const maxMarkedChars = 200_000

/** The text with the words that were searched for. */
export function marked(text: string, words: string | undefined): ReactNode {
  if (words === undefined || words === '' || text.length > maxMarkedChars) return text
  const parts: ReactNode[] = []
  const [low, wanted] = [text.toLowerCase(), words.toLowerCase()]
  // Some letters change their length.
  if (low.length !== text.length) return text
  let from = 0
  for (let at = low.indexOf(wanted); at >= 0; at = low.indexOf(wanted, from)) {
    const end = at + wanted.length
    parts.push(text.slice(from, at), <mark key={at}>{text.slice(at, end)}</mark>)
    from = end
  }
  return [...parts, text.slice(from)]
}
