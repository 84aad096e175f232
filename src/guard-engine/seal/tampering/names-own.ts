import { basename, dirname } from 'node:path'
import type { OpaquePart } from '../../targets.ts'
import { fold } from '../guarded-path-matcher.ts'
import { programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/** Code that cannot be judged and names an own file counts as an attempt to change it. */
export const namesOwn: Tampering = (attempt) => {
  for (const { text, why, exact } of unjudgedParts(attempt)) {
    if (exact === true && isProse(text)) continue
    const own = ownNamedIn(fold(text), attempt)
    if (own !== null) return `${own} is protected, and what this call does to it is unknown (${why})`
  }
  return null
}

/** A text with words that cannot be names of files. As a command it is judged where it is run. */
function isProse(text: string): boolean {
  return /\s/.test(text) && text.split(/\s+/).some((word) => /^[A-Za-z]{2,}[,.;:]?$/.test(word))
}

const later = new Set(['at', 'batch', 'crontab', 'systemd-run', 'schtasks'])
const changers = new Set('mv rm unlink shred cp ln install truncate tee chmod chown dd sed'.split(' '))
export const interpreters = /^(python[\d.]*|node|bun|deno|tsx|perl|ruby|php|lua)$/

function unjudgedParts(attempt: TamperAttempt): readonly OpaquePart[] {
  const { targets, runs, text, world, pathsOf, wroteIt } = attempt
  const delayed = runs.some((run) => programAt(run, (name) => later.has(name)) >= 0)
  const changes = runs.some(
    ({ words, names, first }) => changers.has(names[first] ?? '') && words.includes(null),
  )
  const found = text.match(/\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`/g) ?? []
  const scripts = runs.flatMap((run) => {
    const at = programAt(run, (name) => interpreters.test(name))
    const program = run.words[run.first]
    const named = at >= 0 ? run.words.slice(at + 1) : program?.includes('/') ? [program] : []
    return named.flatMap((word) =>
      word === null || word.startsWith('-') ? [] : pathsOf(word).filter(wroteIt),
    )
  })
  const awk = runs
    .filter((run) => programAt(run, (name) => /^[gmn]?awk$/.test(name)) >= 0)
    .flatMap(({ words }) => words.filter((word) => word !== null && /[>|]|system/.test(word)))
  return [
    ...targets.opaque,
    ...awk.map((program) => ({ text: program ?? '', why: 'awk can write files' })),
    ...(changes ? found.map((inner) => ({ text: inner, why: 'it looks for what it changes' })) : []),
    ...(delayed ? [{ text, why: 'it is run later' }] : []),
    ...scripts.flatMap((path) => {
      const script = world.readText(path, 1_000_000)
      return script === null ? [] : [{ text: script, why: `${path} was written in this session` }]
    }),
  ]
}

function ownNamedIn(text: string, { world }: TamperAttempt): string | null {
  const program =
    (/^[$`].*\bgantry-hook\b/s.test(text) && !searchesHere.test(text)) || /^gantry-hook[\w.]*[*?[]/.test(text)
      ? 'gantry-hook'
      : null
  return (
    program ??
    world.own.find((own) => {
      const folded = fold(own)
      if (text.includes(folded)) return true
      const name = basename(folded)
      if (tooCommon.has(name)) return text.includes(`${basename(dirname(folded))}/${name}`)
      return mentions(text, name, basename(dirname(folded)))
    }) ??
    null
  )
}

/** A search in contents, below the directory of the call: it finds no hook program there. */
const searchesHere =
  /^(?:\$\(|`)\s*(?:git\s+)?(?:[ef]?grep|rg|ag)\s(?!.*(?:\.\.|[~$*?[{|;&<>\\\n]|[\s"'=]\/))[^`]*[)`]$/s

/** Common directory names, which count only together with their parent directory. */
const tooCommon = new Set(['guard', 'hooks', 'plugin', 'plugins', 'harness', 'config.json'])

/** By its name alone, or with its own directory before it. `.vscode/settings.json` is a different file. */
function mentions(text: string, name: string, directory: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (/[\w-]/.test(text[at + name.length] ?? '') || /[\w.-]/.test(text[at - 1] ?? '')) continue
    const before = /([^/\s'"`]+)\/+$/.exec(text.slice(Math.max(0, at - 200), at))?.[1]
    if (before === undefined || before === directory || before === '.' || before === '..') return true
    if (/[$*?{}]/.test(before)) return true
  }
  return false
}
