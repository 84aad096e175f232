import { unescapeText } from './unescape-text.ts'

/** The files a patch would change: of a diff, with `strip` leading parts taken off, or in the form of `apply_patch`. */
export function patchedPaths(text: string, strip: number): readonly string[] {
  const found = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    const own = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$/.exec(line)
    if (own?.[1] !== undefined) found.add(own[1])
    const header = /^(?:\+\+\+|---|\*\*\*|Index:) ("?)([^\t\n]+?)\1(?:\t.*|\s+\d{4}-\d\d-\d\d.*)?$/.exec(line)
    if (header?.[2] !== undefined && own === null)
      for (const path of stripped(unquoted(header[2], header[1] === '"'), strip)) found.add(path)
    const git =
      /^(?:rename (?:from|to)|copy to) ("?)(.+?)\1$/.exec(line) ??
      /^diff --git "?a\/.+ ("?)b\/(.+?)\1$/.exec(line)
    if (git?.[2] !== undefined) found.add(unquoted(git[2], git[1] === '"'))
  }
  found.delete('/dev/null')
  return [...found]
}

/** Git writes unusual characters of a name in quotes, as a C string. */
function unquoted(name: string, isQuoted: boolean): string {
  return isQuoted ? unescapeText(name) : name
}

/** Also the name alone: without `-p` patch uses the file in the current directory. */
function stripped(path: string, strip: number): readonly string[] {
  if (path === '/dev/null') return []
  const parts = path.split('/')
  const rest = parts.slice(strip).join('/')
  return strip === 0 && parts.length > 1 ? [rest, parts.slice(1).join('/')] : [rest]
}
