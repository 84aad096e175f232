import type { Finder } from './finder.ts'

/**
 * Secrets that are known by their shape. Group 1 is kept, so that a reader still sees what sort of key it was. Every
 * pattern begins with a literal that cannot begin again inside its own match: a long hostile text is walked once.
 * Without one of its `hints` a pattern cannot match; they begin with a rare letter, which makes them quick to look for.
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

/** Keys, tokens and passwords that are known by their shape, wherever they stand. */
export const findTokens: Finder = (text, found) => {
  for (const { hints, pattern } of shapes) {
    if (!hints.some((hint) => text.includes(hint))) continue
    for (const match of text.matchAll(pattern))
      found(match.index + (match[1]?.length ?? 0), match.index + match[0].length)
  }
}
