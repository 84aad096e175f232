import { basename } from 'node:path'
import type { WriteTarget } from '../../targets.ts'
import { filesBelow, fold, isInside } from '../guarded-path-matcher.ts'
import { configuresGuard } from '../steering-content.ts'
import { nameOf, type PossibleRun, programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/** Any write to an own path, below one, or to a directory that contains one. */
export const changesGuardedFiles: Tampering = (attempt) => {
  for (const write of attempt.targets.writes) {
    const found = attempt.match(write.path)
    if (found === null || isPlainProjectFile(found.own, attempt)) continue
    if (found.relation !== 'above')
      return `${found.own} is protected, and this call would change it (${write.how})`
    // Git's own words for this say how to keep the file.
    if (/^git (?:clean|stash)/.test(write.how)) continue
    const own = takenAlong(write, attempt)
    if (own !== null) return `${own} is in ${write.path}, so this call would change it too (${write.how})`
  }
  return null
}

/** The own path below a directory that the write affects; null when it does not affect the content of the directory. */
function takenAlong({ path, how, entry, below }: WriteTarget, attempt: TamperAttempt): string | null {
  const { world } = attempt
  // Permissions are judged by their new value.
  if (/rights|mode|owner/.test(how)) return null
  const isThere = (name: string): boolean => world.resolve(name).kind !== 'missing'
  const directories = new Set([path, world.resolve(path).real])
  for (const directory of directories) {
    for (const own of world.own) {
      if (!isInside(fold(own), fold(directory)) || isPlainProjectFile(own, attempt)) continue
      if (below !== undefined) {
        const from = `${below.look}${own.slice(directory === '/' ? 0 : directory.length)}`
        if (!isThere(from)) continue
        if (below.only === undefined || below.only(from)) return own
        const inside = filesBelow(from, world).find(below.only)
        if (inside !== undefined) return inside
      } else if (entry === true && (isThere(own) || how.includes('link'))) return own
    }
  }
  return null
}

/** gantry.yaml is protected only where it configures the guard. */
function isPlainProjectFile(own: string, { world, text }: TamperAttempt): boolean {
  if (!/^gantry\.ya?ml$/i.test(basename(own))) return false
  const before = world.readText(own, 1_000_000) ?? ''
  return !configuresGuard(before) && !/guard/i.test(text)
}

/** A second name for an own file, other permissions or an editor: ways to change it unseen. */
export const opensGuardedFiles: Tampering = (attempt) => {
  for (const run of attempt.runs) {
    const at = programAt(run, (name) => programs.has(name))
    if (at < 0) continue
    const name = nameOf(run.words[at])
    if ((name === 'cp' || name === 'rsync') && !makesLinks(run)) continue
    if (name.endsWith('tar') && !run.words.some((word) => /^-?[a-zA-Z]*x|^--(extract|get)$/.test(word ?? '')))
      continue
    const found = run.words.slice(at + 1).map((word) => ownPathIn(word, name, run, attempt))
    const own = found.find((path) => path !== null)
    if (own !== undefined && own !== null)
      return `${own} is protected, and this call would make it accessible with ${name}`
  }
  return null
}

const programs = new Set(
  'ln link cp rsync mount umount chmod chown chgrp chattr setfacl setfattr xattr icacls attrib mklink fusermount bindfs vi vim nvim view ex ed emacs nano pico joe micro tar gtar bsdtar unzip 7z cpio unrar'.split(
    ' ',
  ),
)

/** These affect the whole content of a directory. */
const covering = new Set(
  'mount umount chattr bindfs ln mklink tar gtar bsdtar unzip 7z cpio unrar'.split(' '),
)

function ownPathIn(
  word: string | null,
  program: string,
  run: PossibleRun,
  attempt: TamperAttempt,
): string | null {
  if (word === null) return null
  for (const path of attempt.pathsOf(word.replace(/^[\w-]+=/, ''))) {
    const found = attempt.match(path)
    if (found === null) continue
    if (found.relation !== 'above') return found.own
    if (isNarrow(path, attempt) && covering.has(program)) return found.own
    const isAll = run.words.some((flag) => /^-\w*R|^--recursive$/.test(flag ?? ''))
    if (program === 'chmod' && (shuts(run) || (isAll && closes(run)))) return found.own
  }
  return null
}

/** Not the project or a directory above it: those are linked and mounted for many reasons. */
function isNarrow(path: string, { root, world }: TamperAttempt): boolean {
  return ![root, world.home].some((wide) => wide === path || wide.startsWith(path === '/' ? '/' : `${path}/`))
}

/** A mode that removes the owner's read permission. */
function closes({ words }: PossibleRun): boolean {
  return words.some((word) => /^[ugoa]*-\w*r|^[ugoa]+=(?!\S*r)|^0?[0-3]\d\d$/.test(word ?? ''))
}

/** A mode that removes the owner's access to the content of a directory. */
function shuts({ words }: PossibleRun): boolean {
  return words.some((word) => /^[ua]*-\w*x(?!.*\+X)|^0?[0246]\d\d$/.test(word ?? ''))
}

function makesLinks({ words }: PossibleRun): boolean {
  return words.some((word) => /^-\w*[ls]|^--(link|symbolic-link|link-dest)/.test(word ?? ''))
}

/** A patch names its files in its text. */
export const patchesGuardedFiles: Tampering = (attempt) => {
  for (const run of attempt.runs) {
    const at = programAt(run, (name) => name === 'patch' || name === 'git')
    if (at < 0) continue
    const words = run.words.slice(at + 1)
    if (nameOf(run.words[at]) === 'git' && !words.some((word) => word === 'apply' || word === 'am')) continue
    const place = words.map((word) => /^--directory=(.+)/.exec(word ?? '')?.[1]).find(Boolean)
    const own = place === undefined ? undefined : attempt.pathsOf(place).map(attempt.match).find(Boolean)?.own
    if (own !== undefined) return `${own} is protected, and the patch may change it`
    const texts = [attempt.text, ...words.flatMap((word) => (word === null ? [] : textsAt(word, attempt)))]
    for (const path of texts.flatMap(patchedIn)) {
      const found = attempt
        .pathsOf(path)
        .map(attempt.match)
        .find((match) => match !== null && match.relation !== 'above')
      if (found !== undefined && found !== null)
        return `${found.own} is protected, and the patch would change it`
    }
  }
  return null
}

function textsAt(word: string, { pathsOf, world }: TamperAttempt): readonly string[] {
  return pathsOf(word).flatMap((path) => world.readText(path, 1_000_000) ?? [])
}

function patchedIn(text: string): readonly string[] {
  return [...text.matchAll(/^(?:\+\+\+|---|rename to|copy to|\*\*\*) "?([^\t\n"]+)/gm)].flatMap(
    ([, path = '']) => [path, path.replace(/^[^/]+\//, '')],
  )
}
