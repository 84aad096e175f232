import { joinPath, listDirectory, showPath } from '../../io/list-directory.ts'
import { entryKind, isDirectory } from '../../io/path-kind.ts'
import { readTextInside } from '../../io/read-text-inside.ts'
import type { PlanFacts, ProjectFacts } from '../contract.ts'
import { printable } from '../printable.ts'
import type { Settings } from '../settings/settings.ts'
import { planSource } from './declaring-files.ts'
import { discoverCommands } from './discover-commands.ts'
import { listTree, type ProjectListing, selectEntries, walkTree } from './list-tree.ts'
import { type Plan, parsePlan } from './parse-plan.ts'
import { type ProjectFiles, toolchains } from './toolchains.ts'

const maxEntries = 100
const maxMissing = 2000
const maxNameLength = 160
const maxTitleLength = 200
const maxOpenTitles = 1000
const goTestDepth = 3
const maxFileBytes = 1024 * 1024
const maxPlanBytes = 16 * 1024 * 1024

/**
 * What a session is told of a project, and what verifies it. Reads little: names, and a few files of the root. Without
 * `entries` the tree, which only the start of a session tells, is not looked at.
 */
export async function lookAtProject(
  root: string,
  settings: Settings,
  { entries: wantsEntries = true }: { readonly entries?: boolean } = {},
): Promise<ProjectFacts> {
  const { maxTreeDepth } = settings.contextInjection
  const names = namesIn(root)
  const listing = wantsEntries
    ? await listTree(root, Math.max(maxTreeDepth, goTestDepth))
    : listForGo(root, names)
  const files = projectFiles(root, names, listing)
  const planText = textOf(root, planSource, maxPlanBytes)
  const plan = planText === null ? null : parsePlan(planText)
  const { entries, omitted } = wantsEntries
    ? entriesOf(root, listing, maxTreeDepth)
    : { entries: [], omitted: 0 }
  return {
    entries,
    truncated: omitted > 0 || !listing.complete,
    ...(listing.complete ? { omitted } : {}),
    commands: discoverCommands(files, {
      settings: settings.checklist.verificationCommands,
      plan: plan?.verification ?? [],
    }),
    toolchains: toolchains
      .filter((toolchain) => toolchain.source(files) !== null)
      .map((toolchain) => toolchain.name(files)),
    plan: plan === null ? null : planFacts(plan),
  }
}

function planFacts({ tasks }: Plan): PlanFacts {
  const open = tasks.filter(({ done }) => !done)
  return {
    total: tasks.length,
    done: tasks.length - open.length,
    open: open.slice(0, maxOpenTitles).map(({ title }) => printable(title, maxTitleLength)),
  }
}

function entriesOf(
  root: string,
  { known }: ProjectListing,
  depth: number,
): { readonly entries: readonly string[]; readonly omitted: number } {
  const kinds = new Map<string, ReturnType<typeof entryKind>>()
  let missing = 0
  const isThere = (entry: string): boolean => {
    // Of a sparse checkout git knows any number of files that are not there.
    if (missing === maxMissing) return false
    const kind = entryKind(joinPath(root, Buffer.from(withoutSlash(entry), 'latin1')))
    kinds.set(entry, kind)
    if (kind === null) missing += 1
    return kind !== null
  }
  const selected = selectEntries(known, { depth, max: maxEntries, isThere })
  const entries = selected.entries.map((entry) => {
    const name = printable(showPath(Buffer.from(withoutSlash(entry), 'latin1')), maxNameLength)
    // A repository inside is one entry to git, and a directory to everybody else.
    return kinds.get(entry) === 'directory' ? `${name}/` : name
  })
  return { entries, omitted: selected.omitted }
}

function withoutSlash(entry: string): string {
  return entry.endsWith('/') ? entry.slice(0, -1) : entry
}

/** Names in the root; directories end in `/`, also where a link leads to one. */
function namesIn(root: string): ReadonlySet<string> {
  const names = new Set<string>()
  for (const entry of listDirectory(root)) {
    const name = showPath(entry.name)
    const isThere = entry.isDirectory() || (entry.isSymbolicLink() && isDirectory(`${root}/${name}`))
    names.add(isThere ? `${name}/` : name)
  }
  return names
}

/** Only Go is recognised by files that do not stand in the root, and where none is in sight nothing is walked. */
function listForGo(root: string, names: ReadonlySet<string>): ProjectListing {
  const isGo = [...names].some((name) => /^go\.(?:mod|work)$|\.go$/.test(name))
  return isGo ? walkTree(root, goTestDepth) : { known: new Set(), complete: true }
}

function projectFiles(root: string, names: ReadonlySet<string>, { known }: ProjectListing): ProjectFiles {
  const texts = new Map<string, string | null>()
  return {
    names,
    known,
    read: (name) => {
      const read = texts.get(name)
      if (read !== undefined) return read
      const text = names.has(name) ? textOf(root, name, maxFileBytes) : null
      texts.set(name, text)
      return text
    },
  }
}

function textOf(root: string, name: string, maxBytes: number): string | null {
  const file = readTextInside(root, name, { maxBytes })
  return file.kind === 'text' ? file.text : null
}
