import { untracked } from '../../../shell/programs/tracked-files.ts'
import { type PossibleRun, programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/** Hiding files from git, so that changes do not affect the tree fingerprint, and git commands that remove own files. */
export const hidesFromGit: Tampering = (attempt) => {
  const hidden = attempt.targets.writes.find(({ path }) => steersGit(path, attempt))
  if (hidden !== undefined) return `${hidden.path} decides what git sees, and the evidence depends on that`
  const listed = removesIgnored.test(attempt.text)
    ? lostBelow(['.'], attempt, { ignored: true, kept: [] })
    : null
  if (listed !== null)
    return `${listed} is protected, and git status --ignored lists it for what removes files`
  const isSetForced = /\bGIT_CONFIG_KEY_\d+=['"]?clean\.requireForce\b/i.test(attempt.text)
  for (const run of attempt.runs) {
    const at = programAt(run, (name) => name === 'git')
    if (at < 0) continue
    const words = withoutGlobalOptions(run.words.slice(at + 1))
    const isForced =
      isSetForced || run.words.some((word) => /^clean\.requireForce=(?:false|no|off|0)$/i.test(word ?? ''))
    const found = blinds(words) ?? sweeps(isForced ? [...words, '--force'] : words, attempt)
    if (found !== null) return found
  }
  return null
}

const removesIgnored =
  /\bgit\b[^|;&\n]{0,200}\bstatus\b[^|;&\n]{0,200}\s--ignored\b[^;&\n]{0,500}\|\s*xargs\b[^|;&\n]{0,200}\s(?:rm|unlink|shred|mv)\b/

function steersGit(path: string, { world, text }: TamperAttempt): boolean {
  const real = world.resolve(path).real
  return [path, real].some(
    (name) =>
      /\/\.git\/(.*\/)?(info\/(exclude|sparse-checkout)|index)$/i.test(name) ||
      /\/git\/ignore$/i.test(name) ||
      (/\/\.git\/config$|\/\.gitconfig$|\/git\/config$/i.test(name) && blindingKey.test(text)),
  )
}

const blindingKey = /excludesfile|fsmonitor|ignorestat|untrackedcache|\bworktree\b|trustctime|checkstat/i

type Words = PossibleRun['words']

/** `git -C dir -c key=value clean` as `git clean`. */
function withoutGlobalOptions(words: Words): Words {
  const valued = new Set(['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path'])
  let at = 0
  while (words[at]?.startsWith('-')) at += valued.has(words[at] ?? '') ? 2 : 1
  return words.slice(at)
}

function blinds(words: Words): string | null {
  const flag = words.find((word) => /^--(assume-unchanged|skip-worktree|fsmonitor-valid)$/.test(word ?? ''))
  if (flag !== undefined) return `git ${flag} would hide changes from the evidence`
  if (words[0] === 'sparse-checkout' && words[1] !== 'list')
    return 'a sparse checkout would hide files from the evidence'
  const reads = words.some((word) => /^(--get.*|--list|-l|get|list)$/.test(word ?? ''))
  const key = words.find((word) => word !== null && /^core\.[a-z]+$/i.test(word) && blindingKey.test(word))
  return words.includes('config') && !reads && key !== undefined && words.at(-1) !== key
    ? `git config ${key} would hide changes from the evidence`
    : null
}

/** `git clean` and `git stash -u` remove untracked files, and hook settings are untracked. */
function sweeps(words: Words, attempt: TamperAttempt): string | null {
  const command = words.find((word) => word !== null && !word.startsWith('-')) ?? null
  const given = words.slice(words.indexOf(command) + 1)
  const flags = given.filter((word) => /^-/.test(word ?? '')).join(' ')
  const named = given.filter((word) => word !== null && !word.startsWith('-'))
  if (command === 'add')
    return /(^| )-\w*f|--force/.test(flags)
      ? addsOwn(/(^| )-\w*A|--all/.test(flags) ? ['.'] : named, attempt)
      : null
  const untracked =
    (command === 'clean' && /(^| )-\w*f|--force/.test(flags) && !/(^| )-\w*n|--dry-run/.test(flags)) ||
    (command === 'stash' && /(^| )-(u|a)\b|--include-untracked|--all/.test(flags))
  if (untracked) {
    const ignored = command === 'clean' ? /(^| )-\w*[xX]/.test(flags) : /(^| )-a\b|--all/.test(flags)
    const kept = given.flatMap((word, at) =>
      word === '-e' || word === '--exclude'
        ? [given[at + 1] ?? '']
        : [/^(?:-e|--exclude=)(.+)$/.exec(word ?? '')?.[1] ?? ''],
    )
    // `git stash save` takes a message, and no paths.
    const isMessage = (at: number): boolean =>
      command === 'stash' && (named.includes('save') || /^-(?:m|-message)$/.test(given[at - 1] ?? ''))
    const places = given.filter(
      (word, at) => named.includes(word) && word !== 'push' && !kept.includes(word ?? '') && !isMessage(at),
    )
    const lost = lostBelow(places.length === 0 ? ['.'] : places, attempt, { ignored, kept })
    return lost === null ? null : `git ${command} would remove ${lost}${spareHint(command, attempt)}`
  }
  if (!['checkout', 'restore', 'rm', 'mv', 'apply', 'stash'].includes(command ?? '')) return null
  for (const path of named.flatMap((word) => attempt.pathsOf(word ?? ''))) {
    // The whole project is checked out for many reasons. Hooks that this removes are put back after the call.
    const isWhole = path === attempt.root || attempt.root.startsWith(`${path}/`) || path === '/'
    const own = isWhole ? null : lostAt(path, attempt)
    if (own !== null) return `git ${command} would change ${own}, which is protected`
  }
  return null
}

/** A hook file that git tracks is removed by the next stash or checkout. */
function addsOwn(places: readonly (string | null)[], attempt: TamperAttempt): string | null {
  const own = lostBelow(places, attempt, { ignored: true, kept: [] })
  return own === null
    ? null
    : `git add -f would put ${own} under version control, and the next stash or checkout would remove it`
}

function spareHint(command: string | null, { root, world }: TamperAttempt): string {
  if (command !== 'clean') return '. Without --all, git stash leaves ignored files alone'
  const there = world.own.filter((own) => own.startsWith(`${root}/`) && world.resolve(own).kind !== 'missing')
  const names = new Set(there.map((own) => own.slice(root.length + 1)))
  return `. To keep it: git clean … ${[...names].map((name) => `-e /${name}`).join(' ')}`
}

function lostBelow(
  places: readonly (string | null)[],
  attempt: TamperAttempt,
  how: Parameters<typeof untracked>[2],
): string | null {
  for (const path of places.flatMap((place) => attempt.pathsOf(place ?? '.'))) {
    const isTaken = untracked(attempt.world, path, how)
    const lost = lostAt(path, attempt, (own) => isTaken(own))
    if (lost !== null) return lost
  }
  return null
}

/** The own path at a path or below it. */
function lostAt(
  path: string,
  { world, match }: TamperAttempt,
  isTaken: (own: string) => boolean = () => true,
): string | null {
  const found = match(path)
  if (found === null) return null
  if (found.relation !== 'above') return isTaken(found.own) ? found.own : null
  return (
    world.own.find(
      (own) => own.startsWith(`${path}/`) && world.resolve(own).kind !== 'missing' && isTaken(own),
    ) ?? null
  )
}
