import picomatch from 'picomatch'

/** What a glob matches, dots at the start of a name included; null when it is no valid one. */
export function globOf(pattern: string): ((text: string) => boolean) | null {
  try {
    const expression = picomatch.makeRe(pattern, { dot: true, nonegate: true })
    return (text) => expression.test(text)
  } catch {
    return null
  }
}
