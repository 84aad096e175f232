/** Roughly: four bytes to a token, as elsewhere where nobody counts. */
export function countTokens(...texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0)
}
