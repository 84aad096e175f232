import picomatch from 'picomatch'

/** A matcher for a glob that also matches dotfiles; null when the glob is invalid. */
export function globOf(pattern: string): ((text: string) => boolean) | null {
  try {
    const expression = picomatch.makeRe(pattern, { dot: true, nonegate: true })
    return (text) => expression.test(text)
  } catch {
    return null
  }
}
