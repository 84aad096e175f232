import { isAbsolute, join } from 'node:path'
import { namesIn } from '../../io/directory.ts'
import { type GitRepository, openRepository } from '../../io/git-repository.ts'
import { changedAtMs } from '../../io/path-kind.ts'
import { readShortText } from '../../io/read-short-text.ts'
import type { BranchFacts, PutAwayWork } from '../contract.ts'
import { documentationMatcher, onlyCommentsChanged } from '../gate/change-influence.ts'
import { planCommandSource, stashRef } from '../project/command-sources.ts'
import {
  type ChangesRequest,
  gitTimeoutMs,
  idsByPath,
  pathOf,
  readManifest,
  recordsIn,
  textOf,
} from './tree-changes.ts'

export interface BranchRequest extends Pick<ChangesRequest, 'root' | 'trees' | 'documentation'> {
  /** The current tree. */
  readonly tree: string | null
  /** The tree that needs no verification. */
  readonly base: string | null
  /** The branches when the work began, and when that was; null when it begins now. */
  readonly before: { readonly heads: Readonly<Record<string, string>>; readonly atMs: number } | null
  /** Trees on which every required command was green. */
  readonly verified: readonly string[]
}

/** More are not recorded with every stop, so work that was put away is not found there. */
const maxBranches = 300
const maxUnverified = 5
const maxTips = 2_000
const maxHeadBytes = 1024 * 1024
/** Commits of all tips together. */
const maxCommits = 10_000

/**
 * The local branches, and commits since the work began that are not in the tree and that no green run has seen. null without git, or when
 * it did not answer.
 */
export async function readBranches(request: BranchRequest): Promise<BranchFacts | null> {
  const { root, before } = request
  const repository = await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository === null) return null
  let isSilent = false
  const git = async (...args: readonly string[]): Promise<Buffer> => {
    const { exitCode, stdout } = await repository.run(args)
    isSilent ||= exitCode === null
    return exitCode === 0 ? stdout : Buffer.alloc(0)
  }
  const lines: Lines = async (...args) => (await git(...args)).toString().split('\n').filter(Boolean)
  const refs = await readRefs(lines, before === null ? ['refs/heads', stashRef] : [])
  const local = refs.filter(({ name }) => name.startsWith(branchStart) || name === stashRef)
  // Branches that the work itself added are looked at.
  if (before === null && local.length >= maxBranches) return null
  const heads = Object.fromEntries(local.map(({ name, commit }) => [shortName(name), commit]))
  if (before === null || Number.isNaN(before.atMs)) return isSilent ? null : { heads, unverified: [] }
  const [common = '.git'] = await lines('rev-parse', '--git-common-dir')
  const age = ageOf(isAbsolute(common) ? common : join(root, common), before.atMs)
  const moves = await readMoves(lines, age)
  const pushed = new Set(moves.filter(({ action }) => action === 'update by push').map(({ ref }) => ref))
  const fetched = moves.filter(({ action }) => isFetch.test(action))
  // What a fetch brought is new here too.
  const fetchHead = age.isNewFile('FETCH_HEAD')
    ? readShortText(join(age.directory, 'FETCH_HEAD'), maxHeadBytes)
    : null
  const brought = (fetchHead ?? '').match(/^[0-9a-f]{40,64}(?=\t)/gm) ?? []
  const known = [...Object.values(before.heads), ...fetched.map(({ commit }) => commit), ...brought]
  const made = new Set(moves.filter(({ action }) => isMade.test(action)).map(({ commit }) => commit))
  const hasFetched = fetched.length > 0 || fetchHead !== null
  const remotes = [...[...pushed].map((ref) => `--exclude=${ref.replace('refs/remotes/', '')}`), '--remotes']
  const hasNewPack = age.hasNewPack()
  // Of packed commits the age is not known, but one after a head of the start, in none of its branches, is new.
  const after = ['rev-list', '--all', '--ancestry-path', `-n${maxCommits}`, '--not', ...known]
  const packed = new Set(!hasFetched && hasNewPack ? await lines(...after) : [])
  // So is one that only branches have which are new or were moved, and that nothing brought.
  const moved = local.filter(
    ({ name, commit }) => name !== stashRef && before.heads[shortName(name)] !== commit,
  )
  const old = refs.filter(({ name }) => name.startsWith('refs/tags/') && !age.isNewFile(name))
  const own = new Set(
    (hasFetched || hasNewPack) && moved.length > 0
      ? await lines(
          ...['rev-list', `-n${maxCommits}`, '--ignore-missing', ...moved.map(({ commit }) => commit)],
          ...['--not', ...known, ...old.map(({ commit }) => commit), ...remotes],
        )
      : [],
  )
  const isNew = (commit: string, atS: number): boolean =>
    age.isSince(atS) ||
    made.has(commit) ||
    packed.has(commit) ||
    (age.isObject(commit)
      ? age.isNewObject(commit) && (!hasFetched || own.has(commit))
      : hasNewPack && own.has(commit))
  // What was there, what was fetched, and what is in the tree.
  const others = ['HEAD', ...known, ...remotes]
  const records: Lines = async (...args) => recordsIn(await git(...args))
  const all = tipsOf({ refs, moves, pushed, isNew }).filter(({ commit }) => !known.includes(commit))
  const tips = [...new Map(all.toReversed().map((tip) => [tip.commit, tip])).values()].toReversed()
  const work = { records, isNew, documentation: request.documentation }
  const givenUp = tips.filter((tip) => tip.isGivenUp === true).slice(0, maxTips)
  const kept = tips.filter((tip) => tip.isGivenUp !== true && tip.branch !== stashRef).slice(0, maxTips)
  const code = new Map([
    ...(await codeOf(kept, others, work)),
    ...(await codeOf(givenUp, [...others, '--all'], work)),
  ])
  const judged: Judged = { ...request, repository, lines, records, code }
  const unverified: PutAwayWork[] = []
  for (const tip of tips.filter(({ commit, branch }) => branch === stashRef || code.has(commit))) {
    if (unverified.length >= maxUnverified) break
    const file = await unverifiedFile(tip, judged)
    if (file !== null) unverified.push({ ...tip, file })
  }
  const { [stashRef]: _, ...branches } = before.heads
  const arrived = await arrivedFrom({ ...request, lines, records }, branches, [
    ['known', Object.values(branches)],
    ['fetched', [...known, ...remotes]],
  ])
  return { heads, unverified, ...(arrived !== null && !isSilent && { arrived }) }
}

/**
 * Where the changes since the base came from, when git brought all of them: they are those between an earlier commit of HEAD and the one of now.
 * null for anything else, and for a branch that was moved back.
 */
async function arrivedFrom<From extends string>(
  { tree, base, trees, lines, records }: Pick<Judged, 'tree' | 'base' | 'trees' | 'lines' | 'records'>,
  heads: Readonly<Record<string, string>>,
  sources: readonly (readonly [From, readonly string[]])[],
): Promise<From | null> {
  if (tree === null || base === null || tree === base) return null
  const [head, branch = ''] = await lines('rev-parse', 'HEAD', '--symbolic-full-name', 'HEAD')
  const [now, ...places] = [...new Set(await lines('log', '-g', `-n${maxPlaces}`, '--format=%H', 'HEAD'))]
  if (head === undefined || head !== now) return null
  const before = heads[shortName(branch)]
  if (before !== undefined && (await lines('rev-list', '-n1', before, '--not', head)).length > 0) return null
  const filesOf = async (commit: string): Promise<ReadonlyMap<string, string>> => {
    const listed = await records('ls-tree', '-r', '-z', commit)
    return byPath(listed.map((record) => record.replace(/^(\d+) \w+ (\w+)/, 'H $1 $2 0')))
  }
  const was = byPath(readManifest(trees, base) ?? [])
  const is = byPath(readManifest(trees, tree) ?? [])
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((path) => was.get(path) !== is.get(path))
  const committed = await filesOf(head)
  if (was.size * is.size === 0 || changed.some((path) => is.get(path) !== committed.get(path))) return null
  const isBase = async (place: string): Promise<boolean> => {
    const files = await filesOf(place)
    return changed.every((path) => was.get(path) === files.get(path))
  }
  let isFound = false
  for (const place of places) isFound ||= await isBase(place)
  if (!isFound) return null
  for (const [from, commits] of sources)
    if ((await lines('rev-list', '-n1', '--ignore-missing', head, '--not', ...commits)).length === 0)
      return from
  return null
}

/** Dates of commits and of the logs are what the committer said. When a file of git was written is not. */
function ageOf(gitDirectory: string, atMs: number) {
  const sinceS = Math.floor(atMs / 1000)
  const isNewFile = (name: string): boolean => changedAtMs(join(gitDirectory, name)) >= atMs
  const objectFile = (commit: string): string => `objects/${commit.slice(0, 2)}/${commit.slice(2)}`
  return {
    directory: gitDirectory,
    isSince: (atS: number): boolean => atS >= sinceS,
    isNewFile,
    hasNewPack: (): boolean =>
      namesIn(join(gitDirectory, 'objects/pack')).some((name) => isNewFile(`objects/pack/${name}`)),
    /** In a file of its own, not packed. */
    isObject: (commit: string): boolean => changedAtMs(join(gitDirectory, objectFile(commit))) > 0,
    isNewObject: (commit: string): boolean => isNewFile(objectFile(commit)),
  }
}

const isFetch = /^(?:fetch|pull|clone)/
/** No fetch writes these into a log. */
const isOurs = /^(?:commit|merge|cherry-pick|rebase|revert|am|update by push)\b/
const isMade = /^(?:commit|merge|cherry-pick|rebase|revert|am)\b/

/** By tip: the files of code in commits of this session that only it has, in one walk over all of them. */
async function codeOf(
  tips: readonly Tip[],
  others: readonly string[],
  {
    records,
    isNew,
    documentation,
  }: Pick<Judged, 'records' | 'documentation'> & { isNew(commit: string, atS: number): boolean },
): Promise<readonly (readonly [string, readonly string[]])[]> {
  if (tips.length === 0) return []
  const format = ['log', '--source', '-c', '-z', '--name-only', '--format=%x01%S %H %ct', '--ignore-missing']
  const listed = await records(
    ...format,
    `-n${maxCommits}`,
    ...tips.map(({ commit }) => commit),
    '--not',
    ...others,
  )
  const isDocumentation = documentationMatcher(documentation)
  const code = new Map<string, string[]>()
  let source: string | null = null
  for (const record of listed) {
    const [, tip, commit = '', atS] = /^\u0001(\S+) (\S+) (\d+)/.exec(record) ?? []
    if (tip !== undefined) source = isNew(commit, Number(atS)) ? tip : null
    const path = Buffer.from(record.replace(/^\n/, ''), 'latin1').toString()
    if (tip !== undefined || source === null || path === '' || isDocumentation(path)) continue
    const paths = code.get(source) ?? []
    paths.push(path)
    code.set(source, paths)
  }
  return [...code]
}

type Lines = (...args: readonly string[]) => Promise<readonly string[]>

const branchStart = 'refs/heads/'

function shortName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes)\//, '').replace(/^refs\/tags\//, 'tag ')
}

interface Ref {
  readonly name: string
  readonly commit: string
  readonly atS: number
  /** Checked out here or in another worktree. */
  readonly isOpen: boolean
}

async function readRefs(lines: Lines, places: readonly string[]): Promise<readonly Ref[]> {
  const tag = '%(*objectname) %(committerdate:unix)%(*committerdate:unix)'
  const listed = await lines(
    'for-each-ref',
    `--format=%(objectname) ${tag} %(refname) %(worktreepath)`,
    ...places,
  )
  return listed.map((line) => {
    const [object = '', inside = '', at = '', name = '', ...place] = line.split(' ')
    return { name, commit: inside || object, atS: Number(at), isOpen: place.join(' ') !== '' }
  })
}

/** A move of a ref, from its log. */
interface Move {
  readonly ref: string
  readonly commit: string
  readonly action: string
}

/** Those of this session, newest first for each ref, with the HEAD of every worktree. Logs are only appended to. */
async function readMoves(lines: Lines, age: ReturnType<typeof ageOf>): Promise<readonly Move[]> {
  const logged = await lines('log', '-g', '--all', '--date=unix', '--format=%gD%x09%H%x09%gs')
  const byRef = new Map<string, { readonly move: Move; readonly isOwn: boolean }[]>()
  for (const line of logged) {
    const [selector = '', commit = '', action = ''] = line.split('\t')
    const [, ref = selector, atS = ''] = /^(.*)@\{(\d+)\}$/.exec(selector) ?? []
    const isOwn = age.isSince(Number(atS)) || (isOurs.test(action) && age.isNewObject(commit))
    const moves = byRef.get(ref) ?? []
    moves.push({ move: { ref, commit, action }, isOwn })
    byRef.set(ref, moves)
  }
  return [...byRef.values()].flatMap((moves) =>
    moves.slice(0, moves.findLastIndex(({ isOwn }) => isOwn) + 1).map(({ move }) => move),
  )
}

type Tip = Omit<PutAwayWork, 'file'>

/** Every place that may have work which is not in the tree. */
function tipsOf({
  refs,
  moves,
  pushed,
  isNew,
}: {
  readonly refs: readonly Ref[]
  readonly moves: readonly Move[]
  readonly pushed: ReadonlySet<string>
  isNew(commit: string, atS: number): boolean
}): readonly Tip[] {
  const here = moves.filter(({ ref }) => ref === 'HEAD')
  const arrived = new Set(here.filter(({ action }) => isArrival.test(action)).map(({ commit }) => commit))
  const made = new Set(here.filter(({ action }) => !isArrival.test(action)).map(({ commit }) => commit))
  const left = leftAs(here)
  const named = refs.filter(({ name, commit, atS, isOpen }) => {
    // A branch that is open elsewhere is judged there, or with its worktree.
    if (name.startsWith(branchStart) || name === stashRef) return !isOpen
    return name.startsWith('refs/remotes/') ? pushed.has(name) : isNew(commit, atS) && !ownedByGit.test(name)
  })
  const worktrees = new Map(
    moves.toReversed().flatMap(({ ref, commit, action }): [string, Tip][] => {
      const name = /^(?:worktrees\/(.+)|(main-worktree))\/HEAD$/.exec(ref)
      const worktree = name?.[1] ?? name?.[2]
      return worktree === undefined || isArrival.test(action)
        ? []
        : [[ref, { branch: `worktree ${worktree}`, commit, worktree }]]
    }),
  )
  const apart = [...left].filter(([commit]) => made.has(commit) || !arrived.has(commit))
  return [
    ...named
      .filter(({ commit }) => left.get(commit) !== 'replaced')
      .map(({ name, commit }) => ({
        branch: shortName(name),
        commit,
        ...(made.has(commit) && { isOwn: true as const }),
      })),
    ...worktrees.values(),
    ...apart
      .filter(([, how]) => how !== 'replaced')
      .map(([commit, how]) => ({
        branch: commit.slice(0, 10),
        commit,
        isOwn: true as const,
        ...(how === 'given up' && { isGivenUp: true as const }),
      })),
  ]
}

const isArrival = /^(?:checkout|reset|fetch|pull|clone|branch)\b|^$|: checkout /

/** Refs with other content than the work: notes, and states of git itself. */
const ownedByGit = /^refs\/(?:notes|replace|bisect|rewritten|prefetch|original|worktree)\//

/** Of HEAD that are looked at. */
const maxPlaces = 12

function byPath(listed: readonly string[]): ReadonlyMap<string, string> {
  return new Map(listed.map((record) => [record.slice(record.indexOf('\t')), record]))
}

/** How this working tree last left each commit. What an amended or rebased commit had is in the commits after it. */
function leftAs(here: readonly Move[]): ReadonlyMap<string, 'detached' | 'given up' | 'replaced'> {
  const left = new Map<string, 'detached' | 'given up' | 'replaced'>()
  for (const [index, { action }] of here.entries()) {
    const detached = /^checkout: moving from ([0-9a-f]{40,64}) to /.exec(action)?.[1]
    const from = detached ?? here[index + 1]?.commit
    if (from === undefined || left.has(from)) continue
    // Without a branch, nothing else refers to it.
    if (detached !== undefined) left.set(from, 'detached')
    else if (/^(?:checkout|reset)/.test(action)) left.set(from, 'given up')
    else left.set(from, 'replaced')
  }
  return left
}

interface Judged extends BranchRequest {
  readonly repository: GitRepository
  readonly lines: Lines
  readonly records: Lines
  /** By commit. */
  readonly code: ReadonlyMap<string, readonly string[]>
}

/** A file of code that is not in the current tree as it is in this commit, if no green run has seen the commit; else null. */
async function unverifiedFile(
  { commit, branch }: Tip,
  { tree, trees, verified, documentation, repository, lines, records, code }: Judged,
): Promise<string | null> {
  const now = idsByPath(readManifest(trees, tree ?? '') ?? [])
  if (branch === stashRef) {
    const [base] = await lines('merge-base', commit, 'HEAD')
    const changed = base === undefined ? [] : await records('diff', '--name-only', '-z', base, commit)
    // The third parent has the files that git did not know.
    const kept = await records('ls-tree', '-r', '-z', commit, '--', ...changed.slice(0, maxStashed))
    const untracked = await records('ls-tree', '-r', '-z', `${commit}^3`)
    const lost = [...kept, ...untracked].find((record) => now.get(pathOf(record)) !== idOf(record))
    return lost === undefined ? null : pathOf(lost)
  }
  const listed = await records('ls-tree', '-r', '-z', commit)
  const ids = new Map(listed.map((record) => [pathOf(record), idOf(record)]))
  const lost = code.get(commit)?.find((path) => ids.get(path) !== now.get(path))
  if (lost === undefined) return null
  const isDocumentation = documentationMatcher(documentation)
  for (const green of verified) {
    const files = idsByPath(readManifest(trees, green) ?? [])
    // The plan is recorded in another form.
    const others = [...ids].filter(
      ([path, id]) => path !== planCommandSource && files.get(path) !== id && !isDocumentation(path),
    )
    if (others.length > maxCompared) continue
    let isSeen = true
    for (const [path, id] of others) {
      const [was, is] = await Promise.all(
        [files.get(path), id].map((each) => (each ? textOf(each, trees, repository) : null)),
      )
      isSeen = was != null && is != null && onlyCommentsChanged(path, was, is)
      // Every text is a call of git.
      if (!isSeen) break
    }
    if (isSeen) return null
  }
  return lost
}

const maxCompared = 20

const maxStashed = 50

/** The id in a record of `git ls-tree`. */
function idOf(record: string): string | undefined {
  return record.split(/[ \t]/, 3)[2]
}
