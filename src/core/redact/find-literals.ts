import type { Finder } from './finder.ts'

/** Shorter values (`1`, `true`, `dev`) would shred every text they occur in. */
const shortest = 6

/** Finder for values that are known to be secret, as they are and as they look in JSON and in a URL. */
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
