import { join } from 'node:path'
import { fileHash } from '../../io/content-hash.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { infoExclude } from '../../io/git-directories.ts'
import { listIfReadable } from '../../io/list-directory.ts'
import { isFile } from '../../io/path-kind.ts'
import { writePrivateFileAtomic } from '../../io/private-files.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { realPath } from '../../io/resolve-links.ts'
import { sha256 } from '../../io/sha256.ts'
import { type TreeHash, treeHash } from '../../io/tree-hash.ts'
import { isByproduct, skipsDirectory } from '../generated-directories.ts'
import { withoutGuardLines } from '../hook-files.ts'
import { planCommandSource } from '../project/command-sources.ts'
import { ignoresItself, isUsual, isViewFile, stateDirectory, viewFiles } from '../views/state-directory.ts'
import { gitTimeoutMs, keepManifest, pathOf, recordsIn, type TreeLists } from './tree-changes.ts'

/** A longer file is hashed without normalizing its boxes. */
const maxPlanBytes = 4 * 1024 * 1024

/**
 * Fingerprint of the tree that evidence is bound to: the content of the working tree and the excludes of git that are outside of it. A
 * ticked box of the plan counts like an open one, because a task is ticked after its verification. `root` is the top of the project,
 * `stateDir` the directory of the guard's views. `seen` gets the files without the plan. With `keepIn`, a directory or a map, the list of the files is kept there, so that another
 * tree can be compared with this one file by file.
 */
export async function treeFingerprint(
  root: string,
  stateDir: string,
  {
    keepIn,
    seen,
    earlier,
    hiddenIn,
    written = () => [],
  }: {
    readonly keepIn?: string | TreeLists
    readonly seen?: (tree: TreeHash) => void
    /** The tree with which the session began, and its records. */
    readonly earlier?: { readonly tree: string; readonly records: () => readonly string[] | null }
    /** File with the names of the sources that are hidden since. */
    readonly hiddenIn?: string
    /** Absolute paths that the session wrote: what git ignores of them belongs to the tree too. */
    readonly written?: () => readonly string[]
  } = {},
): Promise<string> {
  const views = ownViews(root, stateDir)
  const leaveOut = (path: string): boolean => path.split('/').some(isByproduct) || views(path)
  const tasks = readShortText(join(root, planCommandSource), maxPlanBytes)?.replaceAll(
    /^([ \t]*[-*+] \[)[ xX](?=\])/gm,
    '$1 ',
  )
  const found = await treeHash(root, {
    leaveOut,
    gitTimeoutMs,
    omit: [...(tasks === undefined ? [] : [planCommandSource]), ...committedViews(root, stateDir)],
  })
  seen?.(found)
  const { hash, records } = found
  const excludes = withoutGuardLines(infoExclude(root))
  const links = linkedSources(root, records)
  const hashed = (apart: typeof links): string =>
    sha256(`${hash}\n${excludes}\n${tasks ?? ''}${apart.length === 0 ? '' : `\n${JSON.stringify(apart)}`}`)
  const before = hiddenIn === undefined ? [] : (readTextIfExists(hiddenIn) ?? '').split('\0').slice(0, -1)
  const known = earlier === undefined || hashed(links) === earlier.tree ? null : earlier.records()
  const own = written().flatMap((path) =>
    path.startsWith(`${root}/`) ? [Buffer.from(path.slice(root.length + 1)).toString('latin1')] : [],
  )
  const earlierNames = [...before, ...(known ?? []).map(pathOf), ...own.filter((path) => !views(path))]
  const hidden = hiddenSources(root, records, [...new Set(earlierNames)], new Set(own))
  const all = hidden.map(([path]) => `${path}\0`).join('')
  if (hiddenIn !== undefined && typeof keepIn === 'string' && hidden.length > before.length)
    writePrivateFileAtomic(hiddenIn, all)
  const linked = [...links, ...hidden]
  const tree = hashed(linked)
  if (keepIn !== undefined) {
    const outside = [['.git/info/exclude', excludes] as const, [planCommandSource, tasks ?? ''] as const]
    const all = [...records, ...[...outside, ...linked].map(([path, text]) => textRecord(path, text))]
    if (typeof keepIn === 'string') keepManifest(keepIn, tree, all)
    else keepIn.set(tree, recordsIn(Buffer.concat(all)))
  }
  return tree
}

/** Sources that belonged to the tree, or that the session wrote, and that git ignores, with their hashes: the checks run them. */
function hiddenSources(
  root: string,
  records: readonly Uint8Array[],
  earlier: readonly string[],
  own: ReadonlySet<string>,
): readonly (readonly [string, string])[] {
  if (earlier.length === 0) return []
  const listed = new Set(recordsIn(Buffer.concat(records)).map(pathOf))
  return earlier.flatMap((path) => {
    const isInstalled = own.has(path) && /(?:^|\/)(?:node_modules|site-packages)\//.test(path)
    const isSkipped = !isInstalled && path.split('/').some(skipsDirectory)
    if (listed.has(path) || !isSource.test(path) || isSkipped) return []
    const file = join(root, Buffer.from(path, 'latin1').toString())
    return isFile(file) ? [[path, fileHash(file) ?? ''] as const] : []
  })
}

/** Entries that are looked at behind links. */
const maxLinked = 5_000

/** Sources behind links that lead out of the tree, with their hashes: git knows only the link, but the checks run what is behind it. */
function linkedSources(root: string, records: readonly Uint8Array[]): readonly (readonly [string, string])[] {
  const listing = Buffer.concat(records)
  if (!listing.includes(' 120000 ')) return []
  const found: (readonly [string, string])[] = []
  let left = maxLinked
  const visit = (path: string, name: string): void => {
    left -= 1
    if (left < 0) return
    if (isFile(path)) {
      if (isSource.test(path)) found.push([`${name} (behind a link)`, fileHash(path) ?? ''])
      return
    }
    for (const entry of listIfReadable(path))
      if (!entry.isSymbolicLink() && !skipsDirectory(`${entry.name}`))
        visit(`${path}/${entry.name}`, `${name}/${entry.name}`)
  }
  for (const record of recordsIn(listing)) {
    if (!record.startsWith('H 120000 ')) continue
    const real = realPath(`${root}/${pathOf(record)}`)
    const isListed = real.startsWith(`${root}/`) && !real.slice(root.length).split('/').some(skipsDirectory)
    if (!isListed && !`${root}/`.startsWith(`${real}/`)) visit(real, pathOf(record))
  }
  return found.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/** Other files may be data or logs that a run writes. */
const isSource = /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kts?|php|cs|exs?|c|h|cc|cpp|hpp|swift|sh|vue|svelte)$/

/** A file that is hashed apart from the tree. */
function textRecord(path: string, text: string): Uint8Array {
  return Buffer.from(`H 100644 ${sha256(text)} 0\t${path}\0`)
}

/** Leaves out only files that the guard writes. Everything else in a configured state directory belongs to the tree. */
function ownViews(root: string, stateDir: string): (path: string) => boolean {
  const state = stateDirectory(root, stateDir)
  if (state.kind === 'refused' || state.below === null) return () => false
  // Tree paths have one character per byte.
  const start = `${Buffer.from(state.below).toString('latin1')}/`
  const isIgnoreFile = ignoresItself(state.path)
  return (path) => {
    if (!path.startsWith(start)) return false
    const name = path.slice(start.length)
    return name === viewFiles.ignore ? isIgnoreFile : isViewFile(name)
  }
}

/** Views that were committed, for example by the older harness: the guard writes them all the same. */
function committedViews(root: string, stateDir: string): readonly string[] {
  const state = stateDirectory(root, stateDir)
  if (state.kind === 'refused' || state.below === null || !isUsual(state.below)) return []
  const { below } = state
  const names = [viewFiles.state, viewFiles.edits, ...[1, 2, 3].map((number) => `trace-log.${number}.jsonl`)]
  return [...names, viewFiles.trace].map((name) => `${below}/${name}`)
}
