import type { Attempt, Tampering } from './attempt.ts'
import { nameOf, programAt, type SpokenRun } from './spoken-runs.ts'

/** A second name for an own file, other rights on it, an editor over it: ways to change it unseen. */
export const opensOwn: Tampering = (attempt) => {
  for (const run of attempt.runs) {
    const at = programAt(run, (name) => programs.has(name))
    if (at < 0) continue
    const name = nameOf(run.words[at])
    if ((name === 'cp' || name === 'rsync') && !makesLinks(run)) continue
    if (name.endsWith('tar') && !run.words.some((word) => /^-?[a-zA-Z]*x|^--(extract|get)$/.test(word ?? '')))
      continue
    const found = run.words.slice(at + 1).map((word) => namesOwn(word, name, run, attempt))
    const own = found.find((path) => path !== null)
    if (own !== undefined && own !== null)
      return `${own} is guarded, and this call would open it up with ${name}`
  }
  return null
}

const programs = new Set(
  'ln link cp rsync mount umount chmod chown chgrp chattr setfacl setfattr xattr icacls attrib mklink fusermount bindfs vi vim nvim view ex ed emacs nano pico joe micro tar gtar bsdtar unzip 7z cpio unrar'.split(
    ' ',
  ),
)

/** These take a whole directory's content with them. */
const covering = new Set(
  'mount umount chattr bindfs ln mklink tar gtar bsdtar unzip 7z cpio unrar'.split(' '),
)

function namesOwn(word: string | null, program: string, run: SpokenRun, attempt: Attempt): string | null {
  if (word === null) return null
  for (const path of attempt.pathsOf(word.replace(/^[\w-]+=/, ''))) {
    const found = attempt.match(path)
    if (found === null) continue
    if (found.relation !== 'above') return found.own
    if (isNarrow(path, attempt) && covering.has(program)) return found.own
    const isAll = run.words.some((flag) => /^-\w*R|^--recursive$/.test(flag ?? ''))
    if (program === 'chmod' && (isAll ? closes(run) : shuts(run))) return found.own
  }
  return null
}

/** Not the project or a directory above it: those are linked and mounted for many reasons. */
function isNarrow(path: string, { root, world }: Attempt): boolean {
  return ![root, world.home].some((wide) => wide === path || wide.startsWith(path === '/' ? '/' : `${path}/`))
}

/** A mode with which the owner can read no more. */
function closes({ words }: SpokenRun): boolean {
  return words.some((word) => /^[ugoa]*-\w*r|^[ugoa]+=(?!\S*r)|^0?[0-3]\d\d$/.test(word ?? ''))
}

/** A mode with which the owner cannot get at what is in a directory. */
function shuts({ words }: SpokenRun): boolean {
  return words.some((word) => /^[ua]*-\w*x|^0?[0246]\d\d$/.test(word ?? ''))
}

function makesLinks({ words }: SpokenRun): boolean {
  return words.some((word) => /^-\w*[ls]|^--(link|symbolic-link|link-dest)/.test(word ?? ''))
}
