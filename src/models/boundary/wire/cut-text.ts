const shortest = 80
const mostPieces = 50

/**
 * A text as a model sends it: in several pieces, so that a stream can be cut in the middle, and never in so many that a
 * long text becomes slow. No character is torn.
 */
export function cutText(text: string): readonly string[] {
  const size = Math.max(shortest, Math.ceil(text.length / mostPieces))
  const pieces: string[] = []
  let start = 0
  while (start < text.length) {
    const end = beforePair(text, start + size)
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

function beforePair(text: string, end: number): number {
  const high = text.charCodeAt(end - 1)
  const low = text.charCodeAt(end)
  const torn = high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff
  return torn ? end - 1 : end
}
