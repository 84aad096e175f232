const maxNameChars = 200

/** A call in one line. */
export function callName(tool: string, label: string): string {
  const line = label.slice(0, maxNameChars).replaceAll(/\s+/g, ' ').trim()
  return line === '' ? tool : `${tool}: ${line}`
}
