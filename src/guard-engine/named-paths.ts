import type { ProtectedPaths } from './protected-path.ts'

/** A protected name in a text nobody can follow, and its pattern; null when there is none. */
export function namedIn(
  text: string,
  paths: ProtectedPaths,
  {
    cwd,
    isThere,
    ending = '',
  }: {
    readonly cwd: string
    /** Is there a file of that path? */
    isThere(path: string): boolean
    /** What the name must end in to be the one that is meant. */
    readonly ending?: string
  },
): { readonly name: string; readonly pattern: string } | null {
  const seen = new Set<string>()
  let looks = 0
  for (const variant of [text, undone(text)])
    for (const piece of variant.split(/[\s'"`;|&<>()=,:{}[\]$!*#\\^+?%@~]+/)) {
      for (const name of [piece, piece.replace(/[.,?]+$/, '').replace(/\/+$/, '')]) {
        if (name === '' || name.length > 4096 || seen.has(name)) continue
        seen.add(name)
        if (!name.endsWith(ending)) continue
        const pattern = paths.patternOf(name.startsWith('/') ? name : `${cwd}/${name}`)
        if (pattern === null) continue
        if (!isCodeLike(name, pattern)) return { name, pattern }
        looks += 1
        if (looks < maxLooks && isThere(name.startsWith('/') ? name : `${cwd}/${name}`))
          return { name, pattern }
      }
    }
  return null
}

const maxLooks = 50

/** `options.key` and `jq .key` look like the name of a file to a pattern such as `*.key`. */
function isCodeLike(name: string, pattern: string): boolean {
  return /[*?[]/.test(pattern) && !pattern.startsWith('.') && /^[\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(name)
}

/** Without quotes and escapes. */
function undone(text: string): string {
  return text
    .replaceAll(
      /\\x([\da-fA-F]{2})|\\u([\da-fA-F]{4})|\\([0-7]{3})/g,
      (_, hex?: string, unicode?: string, octal?: string) =>
        String.fromCharCode(
          octal === undefined ? Number.parseInt(hex ?? unicode ?? '0', 16) : Number.parseInt(octal, 8),
        ),
    )
    .replaceAll(/\\\n/g, '')
    .replaceAll(/\$?["'`\\]/g, '')
}
