/** The value, or undefined when the text is not valid JSON, such as a truncated file or line. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
