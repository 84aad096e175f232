import { join, relative } from 'node:path'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { blobId } from '../../io/blob-id.ts'
import { modifiedAtMs, namesIn, readTextIfExists } from '../../io/directory.ts'
import { orElse } from '../../io/fs-error.ts'
import { type GitRepository, openRepository } from '../../io/git-repository.ts'
import { changedAtMs, isFile } from '../../io/path-kind.ts'
import { touchFile, writePrivateFileAtomic } from '../../io/private-files.ts'
import { readFrom, sizeOf } from '../../io/read-from.ts'
import { textInside } from '../../io/read-text-inside.ts'
import { removeTree } from '../../io/remove-tree.ts'
import type { DeclaredCommand, TestInventory, TreeChange } from '../contract.ts'
import { checkInPackage, isDivided, packageCheck, partsInPackages } from '../evidence/package-checks.ts'
import {
  type ChangeKind,
  canInfluence,
  documentationMatcher,
  manifestPaths,
  mayBeManifest,
  onlyCommentsChanged,
  type ProjectPackage,
  packageNameIn,
  packageOf,
  packagesChecked,
} from '../gate/change-influence.ts'
import { isNamed } from '../gate/names-to-remove.ts'
import { betweenKey } from '../gate/untested-sources.ts'
import { skipsDirectory } from '../generated-directories.ts'
import { nestedNames } from '../tests/command-definition.ts'
import { callsOfRemoved } from '../tests/removed-tests.ts'
import { type AskedAround, asksAround } from '../tests/surroundings.ts'
import { tamings } from '../tests/tamings.ts'
import { holdsTests, isTestFile, testHash, testLanguage } from '../tests/test-files.ts'

/** Time limit of one git call in a hook: half of the shortest hook timeout, so that the fallback without git fits in the other half. */
export const gitTimeoutMs = 4_000

export interface ChangesRequest {
  readonly root: string
  /** Where the lists of files are kept. */
  readonly trees: string
  /** Lists that are kept nowhere else, because nothing may be written. */
  readonly listed: TreeLists
  readonly tree: string
  /** Fingerprints of the trees to compare with. */
  readonly earlier: readonly string[]
  /** Pairs of earlier trees to compare with each other. */
  readonly between?: readonly (readonly [string, string])[]
  readonly commands: readonly DeclaredCommand[]
  /** Globs. Empty: every change counts. */
  readonly documentation: readonly string[]
  /** What the user asked to remove, and the tests that later work is compared with. */
  readonly toRemove?: readonly string[]
  readonly tests?: TestInventory | null
}

/** The files of trees, by their fingerprints. */
export type TreeLists = Map<string, readonly string[]>

const maxNamed = 20
const maxCompared = 20
const maxSources = 100
const maxPackages = 500
const maxBytes = 512 * 1024

/** Which files differ from earlier trees, and which commands that cannot influence. A tree that was not kept is left out. */
export async function treeChanges(request: ChangesRequest): Promise<Readonly<Record<string, TreeChange>>> {
  const filesOf = (tree: string) => request.listed.get(tree) ?? readManifest(request.trees, tree)
  const now = filesOf(request.tree)
  if (now === null) return {}
  const packages = projectPackages(request, now)
  const [first] = request.earlier
  const base = idsByPath(first === undefined ? now : (filesOf(first) ?? now))
  const found: Record<string, TreeChange> = {}
  for (const earlier of new Set(request.earlier)) {
    const before = filesOf(earlier)
    if (before === null) continue
    const files = differences(before, now)
    const change = await changeBetween(files, request, packages)
    // Only what the whole change did to the tests is reported.
    const tamed = earlier === first ? await tamedSources(files, request) : []
    const obsolete = earlier === first ? await obsoleteTests(files, request) : []
    const isTidied = files.every(({ path, after }) => after === null && !base.has(path))
    found[earlier] = {
      ...change,
      ...(tamed.length > 0 && { tamed }),
      ...(obsolete.length > 0 && { obsolete }),
      ...(isTidied && files.length > 0 && { isTidied }),
    }
  }
  for (const [earlier, later] of request.between ?? []) {
    const [was, is] = [filesOf(earlier), filesOf(later)]
    if (was === null || is === null) continue
    // The later tree is no longer on the disk, so comments cannot be distinguished from code.
    const change = await changeBetween(differences(was, is), { ...request, documentation: [] }, packages)
    found[betweenKey(earlier, later)] = change
  }
  return found
}

async function changeBetween(
  files: readonly FileDifference[],
  request: ChangesRequest,
  packages: readonly ProjectPackage[],
): Promise<TreeChange> {
  const kinds = await changeKinds(files, request)
  const spared: Record<string, string> = {}
  for (const { command } of request.commands) {
    const why = whySpared(command, kinds, packages)
    if (why !== null) spared[command] = why
  }
  const code = [...kinds].filter(([, kind]) => kind === 'code').map(([path]) => path)
  const divided = dividedChecks(code, request, packages)
  const others = [...kinds.keys()].filter((path) => kinds.get(path) !== 'code')
  return {
    files: [...code, ...others].slice(0, maxNamed),
    total: kinds.size,
    isCode: code.length > 0,
    // Rust has tests in its sources.
    tests: code.some((path) => holdsTests(path) || path.endsWith('.rs')),
    sources: code.filter((path) => isSource.test(path) && !holdsTests(path)).slice(0, maxSources),
    spared,
    ...(Object.keys(divided).length > 0 && { packages: divided }),
  }
}

/**
 * Of commands that only start the checks of all packages: the packages with a check that the changed code can influence. A change outside of
 * them can influence them all.
 */
function dividedChecks(
  code: readonly string[],
  { root, commands }: ChangesRequest,
  packages: readonly ProjectPackage[],
): Readonly<Record<string, readonly string[]>> {
  const read = (name: string): string | null => textInside(root, name, maxBytes)
  const isInPackages = code.every((path) => packageOf(path, packages) !== null && !isConfiguration(path))
  const found: Record<string, readonly string[]> = {}
  for (const check of packages.length > 0 ? commands : []) {
    if (check.explicit || !isDivided(check.command, read)) continue
    const reached = packages.flatMap((each) => {
      const own = checkInPackage(check, each.directory, read)
      const isReached = !isInPackages || code.some((path) => canInfluence(path, each, packages))
      return own === null || !isReached ? [] : [`cd ${each.directory} && ${own}`]
    })
    if (reached.length > 0) found[check.command] = reached
  }
  return found
}

/** A file that decides what a check of its package does. */
function isConfiguration(path: string): boolean {
  return (
    mayBeManifest(path) ||
    nestedNames.has(path.slice(path.lastIndexOf('/') + 1)) ||
    /(?:^|\/)\.?[\w-]+(?:\.config\.\w+|rc(?:\.\w+)?)$/.test(path)
  )
}

async function changeKinds(
  files: readonly FileDifference[],
  { root, trees, documentation }: ChangesRequest,
): Promise<ReadonlyMap<string, ChangeKind>> {
  const isDocumentation = documentationMatcher(documentation)
  const kinds = new Map<string, ChangeKind>(
    files.map(({ path }) => [path, isDocumentation(path) ? 'documentation' : 'code']),
  )
  const rest = files.filter(({ path }) => kinds.get(path) === 'code')
  const ignoring = [...kinds.keys()].filter((path) => /(?:^|\/)\.gitignore$/.test(path))
  if (documentation.length === 0 || rest.length > maxCompared) return kinds
  const repository =
    rest.length + ignoring.length === 0 ? null : await openRepository(root, { timeoutMs: gitTimeoutMs })
  if (repository !== null && ignoring.length > 0) {
    // A list that hides sources takes them out of the tree.
    const listed = await repository.run('ls-files -o -i -z --exclude-standard --directory'.split(' '))
    const isHidden = (path: string): boolean => isSource.test(path) && !path.split('/').some(skipsDirectory)
    if (recordsIn(listed.stdout).some(isHidden)) for (const path of ignoring) kinds.set(path, 'code')
  }
  for (const { path, before, after } of rest) {
    // One file of code is enough to need the checks, so the others are not compared.
    if (repository === null || before === null || after === null) break
    const [old, text] = [await textOf(before, trees, repository), textInside(root, path, maxBytes)]
    if (old === null || text === null || !onlyCommentsChanged(path, old, text)) break
    kinds.set(path, 'comments')
  }
  return kinds
}

/** The text of a file that git or the guard keeps under this id; null when neither does, or when it is long. */
export async function textOf(id: string, trees: string, repository: GitRepository): Promise<string | null> {
  const text = (await contentOf(id, trees, repository))?.toString() ?? null
  return text === null || text.length > maxBytes ? null : text
}

export async function contentOf(
  id: string,
  trees: string,
  repository: GitRepository,
): Promise<Buffer | null> {
  const known = await repository.run(['cat-file', 'blob', id])
  if (known.exitCode === 0) return known.stdout
  const text = keptSource(trees, id)
  return text === null ? null : Buffer.from(text)
}

/** Test files that lost only tests of functions that the user asked to remove, and that no changed source has any more. */
async function obsoleteTests(
  files: readonly FileDifference[],
  { root, trees, toRemove = [], tests }: ChangesRequest,
): Promise<readonly string[]> {
  const changed = files.filter(({ path, before }) => before !== null && isSource.test(path))
  const isFew =
    toRemove.length > 0 && changed.some(({ path }) => isTestFile(path)) && changed.length <= maxSources
  const repository = isFew ? await openRepository(root, { timeoutMs: gitTimeoutMs }) : null
  if (repository === null) return []
  const texts = await Promise.all(
    changed.map(async ({ path, before, after }) => ({
      path,
      old: (before === null ? null : await textOf(before, trees, repository)) ?? '',
      text: after === null ? null : textInside(root, path, maxBytes),
    })),
  )
  const sources = texts.filter(({ path }) => !isTestFile(path))
  const isGone = (name: string): boolean =>
    isNamed(name, toRemove) &&
    sources.some(({ old }) => hasWord(old, name)) &&
    !sources.some(({ text }) => text !== null && hasWord(text, name))
  return texts.flatMap(({ path, old, text }) => {
    const language = testLanguage(path)
    const isCompared = language !== null && tests?.files[path]?.hash === testHash(old)
    const calls = isCompared ? callsOfRemoved(old, text, language) : []
    const isAsked = calls.every((each) =>
      [...each].some((name) => isGone(name) && !hasWord(text ?? '', name)),
    )
    return calls.length > 0 && isAsked ? [path] : []
  })
}

function hasWord(text: string, word: string): boolean {
  return new RegExp(`\\b${word}\\b`).test(text)
}

/** What changed sources do to the tests that load them and did not before. */
async function tamedSources(
  files: readonly FileDifference[],
  { root }: ChangesRequest,
): Promise<readonly string[]> {
  const offers = ['pyproject.toml', 'setup.cfg', 'setup.py'].map((name) => textInside(root, name, maxBytes))
  const isOwnModule = (name: string): boolean => name !== '' && isFile(join(root, `${name}.py`))
  const how = { isSure: true, isPlugin: offers.some((text) => text?.includes('pytest11')), isOwnModule }
  const tamed = (path: string, added: readonly string[], all: readonly string[]): readonly string[] =>
    tamings(path, added, all, how).map((what) => `${JSON.stringify(path)} ${what}`)
  const gained = await gainedLines(files, root, (path, lines) => tamed(path, lines, lines).length > 0)
  return gained.flatMap(({ path, added, all }) => tamed(path, added, all)).slice(0, maxNamed)
}

/** The lines that changed sources gained, of those in which `isWanted` finds something. */
async function gainedLines(
  files: readonly FileDifference[],
  root: string,
  isWanted: (path: string, lines: readonly string[]) => boolean,
) {
  const found: { path: string; added: readonly string[]; all: readonly string[] }[] = []
  let repository: GitRepository | null = null
  for (const { path, before } of files.filter((file) => isSource.test(file.path)).slice(0, maxSources)) {
    const all = textInside(root, path, maxBytes)?.split('\n') ?? []
    if (!isWanted(path, all)) continue
    if (before !== null) repository ??= await openRepository(root, { timeoutMs: gitTimeoutMs })
    const blob = before === null ? undefined : await repository?.run(['cat-file', 'blob', before])
    const old = new Set(blob?.stdout.toString().split('\n'))
    found.push({ path, added: all.filter((line) => !old.has(line)), all })
  }
  return found
}

/** What sources that changed since an earlier tree ask about the surroundings of a run, and did not before, by their paths. */
export async function askedSince(
  { root, trees, tree }: Pick<ChangesRequest, 'root' | 'trees' | 'tree'>,
  base: string,
): Promise<ReadonlyMap<string, AskedAround>> {
  const asks = (path: string, lines: readonly string[]): boolean => asksAround(path, lines) !== null
  const gained = await gainedLines(differencesOf(trees, base, tree) ?? [], root, asks)
  return new Map(
    gained.flatMap(({ path, added }) => {
      const asked = asksAround(path, added)
      return asked === null ? [] : [[path, asked] as const]
    }),
  )
}

/** Files with behaviour of their own. */
export const isSource =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|php|java|kts?|scala|cs|fs|swift|exs?|dart|clj[cs]?|c|cc|cpp|cxx|h|hpp|sh|bash|lua|p[lm]|vue|svelte)$/

/** Commands that read documentation: prose, links, formatting, workflows, or the pages built from it. */
const readsDocumentation =
  /markdown|remark|textlint|\bvale\b|spell|prettier|dprint|\balex\b|mkdocs|sphinx|mdbook|docusaurus|hugo|jekyll|\bdocs?\b|link-?check|lychee|doctest|actionlint|zizmor|yamllint/i

function whySpared(
  command: string,
  kinds: ReadonlyMap<string, ChangeKind>,
  packages: readonly ProjectPackage[],
): string | null {
  const isStyled = kindOfCommand(command) === 'lint'
  const relevant = [...kinds].filter(
    ([path, kind]) =>
      kind === 'code' || readsDocumentation.test(command) || (isStyled && /\.prettier\w+/.test(path)),
  )
  if (relevant.length === 0) return 'only documentation or comments changed'
  const checked = packagesChecked(command, packages)
  if (checked === null) return null
  const isReached = relevant.some(([path]) => checked.some((each) => canInfluence(path, each, packages)))
  return isReached ? null : 'only files of other packages changed'
}

/** Directories with a manifest, and those in which a check runs. */
function projectPackages(
  { root, commands }: ChangesRequest,
  records: readonly string[],
): readonly ProjectPackage[] {
  const paths = manifestPaths(records.filter(mayBeManifest).map(pathOf)).slice(0, maxPackages)
  const read = (name: string): string | null => textInside(root, name, maxBytes)
  const places = commands.flatMap(({ command }) =>
    [packageCheck(command), ...(partsInPackages(command, read) ?? [])].flatMap(
      (part) => part?.directory ?? [],
    ),
  )
  const texts = new Map<string, string>(places.map((directory) => [directory, '']))
  for (const path of paths) {
    const directory = path.slice(0, path.lastIndexOf('/'))
    const text = textInside(root, path, maxBytes)
    if (text !== null) texts.set(directory, `${texts.get(directory) ?? ''}${text}\n`)
  }
  return [...texts].map(([directory, manifest]) => ({ directory, manifest, name: packageNameIn(manifest) }))
}

/** Larger lists are not kept. Then it is unknown which files changed, and every change counts. */
const maxManifestBytes = 16 * 1024 * 1024
const maxManifests = 40
const maxTotalBytes = 96 * 1024 * 1024

/** Names of sources that git ignores since a session began. Beside the directory of the trees. */
export function hiddenList(trees: string): string {
  return `${trees}.hidden`
}

/** Keeps the list of the files of a tree under its fingerprint. The lists that were not used for longest are removed. */
export function keepManifest(directory: string, tree: string, records: readonly Uint8Array[]): void {
  const path = join(directory, tree)
  if (touchFile(path)) return
  if (records.reduce((sum, { length }) => sum + length, 0) > maxManifestBytes) return
  writePrivateFileAtomic(path, Buffer.concat(records))
  removeOld(directory)
}

function keptSource(trees: string, id: string): string | null {
  const text = readTextIfExists(join(`${trees}.sources`, id))
  return text !== null && blobId(Buffer.from(text)) === id ? text : null
}

/**
 * Keeps a source of the project as it is before an edit, under its id in the lists: git does not know what was never committed. What cannot
 * be written is not kept.
 */
export function keepSource(trees: string, root: string, path: string): void {
  const text = isSource.test(path) ? textInside(root, relative(root, path), maxBytes) : null
  if (text === null) return
  const directory = `${trees}.sources`
  const kept = join(directory, blobId(Buffer.from(text)))
  orElse(undefined, () => {
    if (touchFile(kept)) return
    writePrivateFileAtomic(kept, text)
    removeOld(directory)
  })
}

function removeOld(directory: string): void {
  const kept = namesIn(directory)
    .map((name) => ({ path: join(directory, name), at: modifiedAtMs(join(directory, name)) ?? 0 }))
    .toSorted((a, b) => b.at - a.at)
  let bytes = 0
  for (const [index, { path }] of kept.entries()) {
    bytes += sizeOf(path)
    if (index >= maxManifests || bytes > maxTotalBytes) removeTree(path)
  }
}

/** A file that differs between two trees. The path is relative to the root. */
interface FileDifference {
  readonly path: string
  /** Id of its content in the earlier tree; null when it was not there. */
  readonly before: string | null
  readonly after: string | null
}

/** The records of a tree; null when they were not kept. */
export function readManifest(directory: string, tree: string): readonly string[] | null {
  const path = join(directory, tree)
  // Listed trees have at least the records of the files outside.
  const { bytes, size } = readFrom(path, 0)
  if (size === 0) return null
  touchFile(path)
  return recordsIn(bytes)
}

export function recordsIn(bytes: Buffer): readonly string[] {
  return bytes.toString('latin1').split('\0').slice(0, -1)
}

/** Whether two trees differ only in what tools write while checks run: lock files, reports, and new files in directories of outputs. */
export function onlyGenerated(trees: string, earlier: string, later: string): boolean {
  const isGenerated = differencesOf(trees, earlier, later)?.every(
    ({ path, before }) =>
      toolFiles.test(path) || (before === null && path.split('/').slice(0, -1).some(skipsDirectory)),
  )
  return isGenerated ?? false
}

/** Why a build that looks only at times may have left a source out: it changed since an earlier tree and is dated before it. */
export function datedBack(
  { root, trees, tree }: Pick<ChangesRequest, 'root' | 'trees' | 'tree'>,
  earlier: readonly { readonly tree: string; readonly atMs: number }[],
): string | null {
  for (const { tree: then, atMs } of earlier)
    for (const { path, before, after } of differencesOf(trees, then, tree) ?? []) {
      const time = before && after && compiled.test(path) ? modifiedAtMs(join(root, path)) : null
      if (time !== null && time < atMs && changedAtMs(join(root, path)) > atMs)
        return `${path} changed, but its time is from before, so a build may leave it out: touch the file and run the check again`
    }
  return null
}

/**
 * The first source or test that was written since a time although it belongs to the change, or is a test: by the kernel's clock, so that
 * putting the old content and time back hides nothing. What generators write each time is left out.
 */
export function writtenSince(
  { root, trees, tree }: Pick<ChangesRequest, 'root' | 'trees' | 'tree'>,
  base: string | null,
  sinceMs: number,
): string | null {
  const [now, was] = [readManifest(trees, tree), base === null ? [] : readManifest(trees, base)]
  const before = new Set(was ?? [])
  const own = (now ?? []).flatMap((record) => {
    const path = pathOf(record)
    const isOwn = isSource.test(path) && !generated.test(path) && (!before.has(record) || isTestFile(path))
    return isOwn ? [path] : []
  })
  const directories = new Set(own.flatMap((path) => parentsOf(path)))
  return (
    own.find((path) => changedAtMs(join(root, path)) > sinceMs) ??
    [...directories].find((path) => wasMoved(join(root, path), sinceMs)) ??
    null
  )
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'))
}

/** A directory that was moved away and back keeps its time, which any change of its entries would set. */
function wasMoved(path: string, sinceMs: number): boolean {
  return changedAtMs(path) > sinceMs && (modifiedAtMs(path) ?? sinceMs) < sinceMs
}

/** Sources that changed since an earlier tree, also those that are gone. */
export function changedSources(trees: string, earlier: string, later: string): readonly string[] {
  return (differencesOf(trees, earlier, later) ?? [])
    .map(({ path }) => path)
    .filter((path) => isSource.test(path))
}

const generated =
  /(?:^|[/._-])(?:gen|generated|codegen|pb2?|grpc|g|snap(?:shots?)?|fixtures?|testdata|expected|outputs?|out|tmp|temp|dist|build|lib|vendor|versions?|schema|bindings)(?=[/._-])/i

const compiled = /\.(?:rs|c|cc|cpp|cxx|m|mm|h|hh|hpp|cs|fs|vb|java|kt|scala|swift|zig|f90|py)$/i

const toolFiles =
  /(?:^|\/)(?:Cargo\.lock|go\.sum|(?:uv|poetry|pdm|Pipfile|bun|mix|yarn|composer|Gemfile)\.lock|package-lock\.json|pnpm-lock\.yaml|(?:junit|report|coverage|test-?results?)[\w.-]*\.xml|\.coverage[\w.-]*|coverage\.out|cover\.out|lcov\.info|\.eslintcache|\.phpunit\.result\.cache|[^/]+\.(?:tsbuildinfo|log)|(?:htmlcov|\.nyc_output|test-results|playwright-report)\/.*)$/

export function differencesOf(
  trees: string,
  earlier: string,
  later: string,
): readonly FileDifference[] | null {
  const [was, is] = [readManifest(trees, earlier), readManifest(trees, later)]
  return was === null || is === null ? null : differences(was, is)
}

/** The files that differ between two trees, sorted by path. */
function differences(earlier: readonly string[], later: readonly string[]): readonly FileDifference[] {
  const [was, is] = [new Set(earlier), new Set(later)]
  const before = idsByPath(earlier.filter((record) => !is.has(record)))
  const after = idsByPath(later.filter((record) => !was.has(record)))
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
}

export function idsByPath(records: readonly string[]): ReadonlyMap<string, string> {
  return new Map(records.map((record) => [pathOf(record), record.split(' ', 3)[2] ?? '']))
}

/** Records have one character per byte. */
export function pathOf(record: string): string {
  return Buffer.from(record.slice(record.indexOf('\t') + 1), 'latin1').toString()
}
