/** The value, or undefined when the text is no JSON: half a file, a torn line, a damaged block. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
