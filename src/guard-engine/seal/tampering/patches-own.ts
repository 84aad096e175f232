import type { Attempt, Tampering } from './attempt.ts'
import { nameOf, programAt } from './spoken-runs.ts'

/** A patch names its files in its own text. */
export const patchesOwn: Tampering = (attempt) => {
  for (const run of attempt.runs) {
    const at = programAt(run, (name) => name === 'patch' || name === 'git')
    if (at < 0) continue
    const words = run.words.slice(at + 1)
    if (nameOf(run.words[at]) === 'git' && !words.some((word) => word === 'apply' || word === 'am')) continue
    const texts = [attempt.text, ...words.flatMap((word) => (word === null ? [] : textsAt(word, attempt)))]
    for (const path of texts.flatMap(patchedIn)) {
      const found = attempt
        .pathsOf(path)
        .map(attempt.match)
        .find((match) => match !== null && match.relation !== 'above')
      if (found !== undefined && found !== null)
        return `${found.own} is guarded, and the patch would change it`
    }
  }
  return null
}

function textsAt(word: string, { pathsOf, world }: Attempt): readonly string[] {
  return pathsOf(word).flatMap((path) => world.readText(path, 1_000_000) ?? [])
}

function patchedIn(text: string): readonly string[] {
  return [...text.matchAll(/^(?:\+\+\+|---|rename to|copy to|\*\*\*) "?([^\t\n"]+)/gm)].flatMap(
    ([, path = '']) => [path, path.replace(/^[^/]+\//, '')],
  )
}
