import { type PossibleRun, programAt, type TamperAttempt, type Tampering } from './attempt.ts'

/** Hiding files from git, which would then change without changing the tree's fingerprint; and git commands that remove own files. */
export const hidesFromGit: Tampering = (attempt) => {
  const hidden = attempt.targets.writes.find(({ path }) => steersGit(path, attempt))
  if (hidden !== undefined) return `${hidden.path} decides what git sees, and evidence rests on what git sees`
  for (const run of attempt.runs) {
    const at = programAt(run, (name) => name === 'git')
    if (at < 0) continue
    const words = withoutGlobalOptions(run.words.slice(at + 1))
    const found = blinds(words) ?? sweeps(words, attempt)
    if (found !== null) return found
  }
  return null
}

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

/** `git clean` and `git stash -u` take untracked files away, and hook settings often are untracked. */
function sweeps(words: Words, attempt: TamperAttempt): string | null {
  const command = words.find((word) => word !== null && !word.startsWith('-')) ?? null
  const flags = words.filter((word) => /^-/.test(word ?? '')).join(' ')
  const untracked =
    (command === 'clean' && /(^| )-\w*f|--force/.test(flags) && !/(^| )-\w*n|--dry-run/.test(flags)) ||
    (command === 'stash' && /(^| )-(u|a)\b|--include-untracked|--all/.test(flags))
  const named = words
    .slice(words.indexOf(command) + 1)
    .filter((word) => word !== null && !word.startsWith('-'))
  if (untracked) {
    const places = named.filter((word) => word !== 'push' && word !== 'save')
    const swept = places.length === 0 ? ['.'] : places
    const lost = lostBelow(swept, attempt)
    return lost === null ? null : `git ${command} would take ${lost} away`
  }
  if (!['checkout', 'restore', 'rm', 'mv', 'apply', 'stash'].includes(command ?? '')) return null
  for (const path of named.flatMap((word) => attempt.pathsOf(word ?? ''))) {
    // The whole project is checked out for many reasons; the seal shows what that does to own files.
    const isWhole = path === attempt.root || attempt.root.startsWith(`${path}/`) || path === '/'
    const own = isWhole ? null : lostAt(path, attempt)
    if (own !== null) return `git ${command} would change ${own}, which is guarded`
  }
  return null
}

function lostBelow(places: readonly (string | null)[], attempt: TamperAttempt): string | null {
  for (const path of places.flatMap((place) => attempt.pathsOf(place ?? '.'))) {
    const lost = lostAt(path, attempt)
    if (lost !== null) return lost
  }
  return null
}

/** The own path at a path or, when there is one, below it. */
function lostAt(path: string, { world, match }: TamperAttempt): string | null {
  const found = match(path)
  if (found === null) return null
  if (found.relation !== 'above') return found.own
  return world.own.find((own) => own.startsWith(`${path}/`) && world.resolve(own).kind !== 'missing') ?? null
}
