/** Where a text is in a line of a log, whether it is JSON or not; null when it is not there. The words around it are for people. */
export function searchLine(line: string, text: string): string | null {
  const low = line.toLowerCase()
  const written = JSON.stringify(text.toLowerCase()).slice(1, -1)
  const at = low.indexOf(written) < 0 ? low.indexOf(text.toLowerCase()) : low.indexOf(written)
  if (at < 0) return null
  const kind = /"event":"(\w+)"/.exec(line.slice(0, 200))?.[1]?.replaceAll('_', ' ')
  const around = line.slice(Math.max(0, at - 60), at + written.length + 100).toWellFormed()
  const plain = around.replaceAll(/\\[nrt]/g, ' ').replaceAll(/\\(["\\])/g, '$1')
  return kind === undefined ? plain : `${kind}: ${plain}`
}
