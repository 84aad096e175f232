import type { Finder, Found } from './replace-spans.ts'

/**
 * Secrets with a known format. Group 1 is kept, so readers see the kind of key. Every pattern begins with a literal that cannot occur
 * inside its own match, so a long hostile text is scanned once. A pattern cannot match without one of its `hints`, which begin with a
 * rare letter and are fast to search.
 */
const shapes: readonly { readonly hints: readonly string[]; readonly pattern: RegExp }[] = [
  { hints: ['k-'], pattern: /(?<![A-Za-z0-9])(sk-(?:ant-|proj-)?)[A-Za-z0-9_-]{20,}/g },
  { hints: ['_live_', '_test_'], pattern: /(?<![A-Za-z0-9])([rs]k_(?:live|test)_)[A-Za-z0-9]{10,}/g },
  { hints: ['AKIA', 'ASIA'], pattern: /(?<![A-Za-z0-9])(A[KS]IA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  {
    hints: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'b_pat_'],
    pattern: /(?<![A-Za-z0-9])(gh[oprsu]_|github_pat_)[A-Za-z0-9_]{20,}/g,
  },
  { hints: ['glpat-'], pattern: /(?<![A-Za-z0-9])(glpat-)[A-Za-z0-9_-]{20,}/g },
  { hints: ['AIza'], pattern: /(?<![A-Za-z0-9])(AIza)[A-Za-z0-9_-]{30,}/g },
  { hints: ['xox'], pattern: /(?<![A-Za-z0-9])(xox[abeoprs]-)[A-Za-z0-9-]{10,}/g },
  { hints: ['m_'], pattern: /(?<![A-Za-z0-9])(npm_)[A-Za-z0-9]{30,}/g },
  { hints: ['f_'], pattern: /(?<![A-Za-z0-9])(hf_)[A-Za-z0-9]{30,}/g },
  {
    hints: ['yJ'],
    pattern: /(?<![A-Za-z0-9_-])(eyJ)[A-Za-z0-9_-]{7,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?/g,
  },
  {
    hints: ['rer', 'RER'],
    pattern: /(?<![A-Za-z0-9])(Bearer[ \t]+)(?!(?:tokens?|auth\w*)\b)[A-Za-z0-9._~+/=-]{3,}/gi,
  },
  {
    hints: ['zation', 'ZATION'],
    pattern:
      /(uthorization\\{0,8}["']?[ \t]{0,32}[:=][ \t]{0,32}\\{0,8}["']?[A-Za-z]{1,20}[ \t]{1,32})[^\s"'\\]+/gi,
  },
  { hints: ['://'], pattern: /(:\/\/[^\s/?#@:"'<>]{0,256}:)[^\s/?#@"'<>]{1,1024}(?=@)/g },
]

export const findTokens: Finder = (text, found) => {
  for (const { hints, pattern } of shapes) {
    if (!hints.some((hint) => text.includes(hint))) continue
    for (const match of text.matchAll(pattern))
      found(match.index + (match[1]?.length ?? 0), match.index + match[0].length)
  }
}

/** Shorter values (`1`, `true`, `dev`) occur in ordinary text. */
const shortest = 6

/** Finder for known secret values, verbatim and as encoded in JSON and URLs. */
export function findLiterals(secrets: readonly string[]): Finder {
  const literals = literalForms(secrets)
  return (text, found) => {
    for (const literal of literals)
      for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + literal.length))
        found(at, at + literal.length)
  }
}

export function literalForms(secrets: readonly string[]): string[] {
  const forms = secrets
    .filter((secret) => secret.length >= shortest)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret.toWellFormed()),
    ])
  return [...new Set(forms)]
}

/** No private key is longer. A later END belongs to something else. */
export const longestKeyBlock = 32_768

const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const end = '-----END '
const body = /[A-Za-z0-9+/=\s\\:,.-]*/y

/** The body of a PEM or PGP private key. Without an END (truncated output) also hides following text that may be key. */
export const findPrivateKeys: Finder = (text, found) => {
  if (!text.includes('PRIVATE KEY')) return
  let nextEnd = -1
  let covered = 0
  for (const match of text.matchAll(begin)) {
    if (match.index < covered) continue
    const start = match.index + match[0].length
    // Search again only after passing it, so many BEGINs do not each scan the whole text.
    if (nextEnd !== Infinity && nextEnd < start) {
      const place = text.indexOf(end, start)
      nextEnd = place === -1 ? Infinity : place
    }
    covered = nextEnd - start <= longestKeyBlock ? nextEnd : openEnd(text, start)
    if (covered > start) found(start, covered)
  }
}

function openEnd(text: string, start: number): number {
  body.lastIndex = start
  const length = body.exec(text)?.[0].length ?? 0
  return start + Math.min(length, longestKeyBlock)
}

const domain = /(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}/y
const localPart = /[A-Za-z0-9._%+-]/
const unixHome = /(\/(?:home|Users)\/)[^/\\\s"'`<>|:;,()[\]{}]{1,256}/g
// Names on Windows may have spaces. Only a following backslash ends them.
const windowsHome =
  /([A-Za-z]:\\{1,4}Users\\{1,4})(?:[^\\/:*?"<>|\r\n[\]]{1,64}(?=\\)|[^\\/:*?"<>|\s'[\]]{1,64})/gi

/** Finds e-mail addresses and user names in home directories. The rest of the path stays. */
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
