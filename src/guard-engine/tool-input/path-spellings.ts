/** The paths a server may take a value for: as it stands, without quotes and blanks around it, as a URI, with its percent signs read. */
export function pathSpellings(value: string): readonly string[] {
  const bare = value.trim().replace(/^(["'`])(.*)\1$/s, '$2')
  const found = new Set(/^file:/i.test(bare) ? [] : [value])
  let path = bare
  for (let round = 0; round < maxRounds; round += 1) {
    path = path.replace(/^file:(?:\/\/[^/]*)?/i, '')
    // Some servers end a name at a NUL, Windows at the name of a stream.
    for (const each of [path, path.split('\0')[0] ?? '', path.replace(/::?\$DATA$/i, '')]) found.add(each)
    path = decoded(path)
  }
  found.delete('')
  return [...found]
}

/** A value may be encoded more than once. */
const maxRounds = 3

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
