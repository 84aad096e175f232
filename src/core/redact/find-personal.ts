import type { Finder, Found } from './finder.ts'

const domain = /(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}/y
const localPart = /[A-Za-z0-9._%+-]/
const unixHome = /(\/(?:home|Users)\/)[^/\\\s"'`<>|:;,()[\]{}]{1,256}/g
// Names on Windows may have spaces; only a following backslash tells where such a name ends.
const windowsHome =
  /([A-Za-z]:\\{1,4}Users\\{1,4})(?:[^\\/:*?"<>|\r\n[\]]{1,64}(?=\\)|[^\\/:*?"<>|\s'[\]]{1,64})/gi

/** What points to a person: e-mail addresses, and the user's name in home directories, whose shape stays. */
export const findPersonal: Finder = (text, found) => {
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > 0 && at - start < 64 && localPart.test(text.charAt(start - 1))) start -= 1
    domain.lastIndex = at + 1
    if (start < at && domain.test(text)) found(start, domain.lastIndex)
  }
  if (text.includes('/home/') || text.includes('/Users/')) findHomes(text, unixHome, found)
  if (text.includes('\\Users\\')) findHomes(text, windowsHome, found)
}

function findHomes(text: string, pattern: RegExp, found: Found): void {
  for (const match of text.matchAll(pattern))
    found(match.index + (match[1]?.length ?? 0), match.index + match[0].length)
}
