import { isAbsolute, join, relative, resolve } from 'node:path'
import { makeDirectories, namesIn } from '../io/directory.ts'
import { fileOwner, setFileOwner, setTreeOwner } from '../io/file-owner.ts'
import { writeFileAtomic } from '../io/files.ts'
import { gitDirectories } from '../io/git-directories.ts'
import { isRoot } from '../io/is-root.ts'
import { entryKind, isFile, pathKind } from '../io/path-kind.ts'
import { pointLink } from '../io/point-link.ts'
import { realPath, resolveLinks } from '../io/resolve-links.ts'
import type { SandboxRequest } from './contract.ts'

/** A directory inside a sandbox. Every engine has the same ones. */
export interface SandboxPlace {
  /** Absolute, inside. */
  readonly targets: readonly string[]
  /** Absolute, on the host. The first hides files with the same name in the next ones. None: a new directory. */
  readonly sources: readonly string[]
  /** `aside`: into a layer above the sources. */
  readonly writes: 'refused' | 'through' | 'aside'
  /** The directory that keeps the layer; null: it is discarded. */
  readonly keptIn: string | null
}

export function placesOf(request: SandboxRequest): readonly SandboxPlace[] {
  const { repository, origin = repository, workspace, layers = [], keep, artifacts, caches } = request
  const aside = workspace === 'overlay' || keep !== undefined ? 'aside' : 'refused'
  const writes = workspace === 'writable' ? 'through' : aside
  const own = workspace === 'writable' ? [origin, repository] : [origin]
  const isLayered = keep !== undefined || layers.length > 0
  const layered = (name: 'workspace' | 'home') => ({
    sources: layers.map((layer) => join(layer, name)),
    keptIn: keep === undefined ? null : join(keep, name),
  })
  // Writes must reach the repository, so nothing can be above it.
  const { sources, keptIn } = workspace === 'writable' ? { sources: [], keptIn: null } : layered('workspace')
  const places: readonly (Omit<SandboxPlace, 'keptIn'> & Partial<SandboxPlace>)[] = [
    {
      targets: ['/workspace', ...new Set(own.filter(mayAppearAt))],
      sources: [...sources, repository],
      ...{ writes, keptIn },
    },
    ...outerGit(repository, origin).map(
      (path) => ({ targets: [path], sources: [path], writes: aside }) as const,
    ),
    { targets: ['/artifacts'], sources: [artifacts], writes: 'through' },
    { targets: ['/tmp'], sources: [], writes: 'aside' },
    ...(isLayered ? [{ targets: [homeInside], writes: 'aside', ...layered('home') } as const] : []),
    ...caches.map((cache) => ({ targets: [cache.target], sources: [cache.source], writes: cache.writes })),
  ]
  return places.map((place) => ({ keptIn: null, ...place }))
}

/** Below `/tmp`, so it lasts from one step to the next and has room. */
const homeInside = '/tmp/home'

/** Programs that a virtual environment leads to, for a sandbox that lacks them. */
const absentInside = '/tmp/.absent'

const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** For programs of this machine with a network: Node has a list of its own, without authorities that this machine trusts besides. */
export const certificateVariables: Readonly<Record<string, string>> = isFile(certificates)
  ? { NODE_EXTRA_CA_CERTS: certificates }
  : {}

/** The variables of every step, besides PATH. */
export const placeVariables = {
  HOME: homeInside,
  // The owner of the repository is another user inside, so git would refuse to work in it.
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.directory',
  GIT_CONFIG_VALUE_0: '*',
}

/** `/etc/hosts` of a sandbox with no network, and the name that it has there. */
export const hostname = 'sandbox'
export const hosts: string = `127.0.0.1 localhost\n::1 localhost\n127.0.0.1 ${hostname}\n`

/**
 * The repository is also at its own path, because programs in it have that path in their first line or in their
 * configuration, as those of a virtual environment do. Not where it would hide what the engine needs.
 */
function mayAppearAt(path: string): boolean {
  return !/^\/(?:$|(?:usr|etc|bin|sbin|lib\w*|tmp|var|home|dev|dev\/shm)$|(?:workspace|artifacts|proc|sys|run)(?:\/|$))/.test(
    path,
  )
}

/**
 * The git directory of a linked worktree or a submodule, which is outside it, and the objects that a copy shares with its origin. What
 * the copy itself names is not followed: a program may have written it.
 */
function outerGit(repository: string, origin: string): readonly string[] {
  const common = gitDirectories(repository)?.common
  if (common === undefined) return []
  const from = origin === repository ? common : (gitDirectories(origin)?.common ?? common)
  return [common, join(from, 'objects')]
    .filter((path) => pathKind(path) === 'directory')
    .map(realPath)
    .filter((path) => !isInside(path, repository) && mayAppearAt(path))
}

/** A directory of the repository on the search path of steps. */
interface OwnPrograms {
  readonly inside: string
  readonly outside: string
}

/** In the order of the caller's PATH; then the usual ones, which setup or a step may still make. */
function ownPrograms({
  repository,
  env,
}: Pick<SandboxRequest, 'repository' | 'env'>): readonly OwnPrograms[] {
  const found = (env.PATH ?? '').split(':').flatMap((entry) => {
    if (entry === '') return []
    const outside = resolve(repository, entry)
    // A symlink may lead into the repository, or out of it.
    const real = isInside(outside, repository) ? outside : realPath(outside)
    return isInside(real, repository) ? [real] : []
  })
  const made = ['venv', 'env'].filter((name) => pathKind(join(repository, name, 'pyvenv.cfg')) === 'file')
  const usual = ['.venv/bin', ...made.map((name) => `${name}/bin`), 'node_modules/.bin']
  return [...new Set([...found, ...usual.map((name) => join(repository, name))])].map((outside) => ({
    outside,
    inside: join('/workspace', relative(repository, outside)),
  }))
}

/** Whether an entry of the caller's PATH is a directory of the repository, which steps have at another path. */
export function isOwnEntry(entry: string, repository: string): boolean {
  return !isAbsolute(entry) || isInside(entry, repository) || isInside(realPath(entry), repository)
}

/** The search path inside, `rest` being the engine's. Last what setup installs for the user. */
export function searchPath(request: Pick<SandboxRequest, 'repository' | 'env'>, rest: string): string {
  const absent = outsidePrograms(request).length === 0 ? [] : [absentInside]
  return [
    ...ownPrograms(request).map(({ inside }) => inside),
    ...absent,
    rest,
    `${homeInside}/.local/bin`,
  ].join(':')
}

/** Programs of the repository that are symlinks to files outside, such as the Python of a virtual environment. */
export function outsidePrograms(request: Pick<SandboxRequest, 'repository' | 'env'>) {
  return ownPrograms(request).flatMap(({ outside, inside }) =>
    (pathKind(outside) === 'directory' ? namesIn(outside) : []).flatMap((name) => {
      const path = join(outside, name)
      const known = realPath(path)
      // A dangling symlink has no real path.
      const real = known === path && entryKind(path) === 'link' ? resolveLinks(path).real : known
      return isInside(real, request.repository) ? [] : [{ name, at: join(inside, name), real }]
    }),
  )
}

/** A place on the host, ready to be mounted. */
export interface LaidPlace {
  readonly targets: readonly string[]
  readonly source: string
  /** Of the host: the files of its owner shall appear as those of the steps. */
  readonly isForeign: boolean
  /** Makes it an overlay above the source: names in the directory of the place, the topmost first. */
  readonly above: readonly string[] | null
  /** On the host: where the writes of steps go. */
  readonly writable: string | null
}

/** `directory`: for what the place needs on the host. `owner`: of the steps. */
export function layPlace(
  { targets, sources, writes, keptIn }: SandboxPlace,
  directory: string,
  request: SandboxRequest,
  owner: Owner,
): LaidPlace {
  const source = sources.at(-1)
  if (source === undefined) {
    const made = keptIn ?? join(directory, 'upper')
    makeDirectories(made)
    if (targets[0] === '/tmp') makeTemporary(made, request, owner)
    else setFileOwner(made, { uid: owner.uid, gid: owner.gid, mode: 0o700 })
    return { targets, source: made, isForeign: false, above: null, writable: made }
  }
  const isForeign = !(request.layers ?? []).some((layer) => source.startsWith(`${layer}/`))
  const plain = { targets, source, isForeign }
  if (writes !== 'aside' && sources.length === 1)
    return { ...plain, above: null, writable: writes === 'through' ? source : null }
  makeDirectories(directory)
  const above = sources.slice(0, -1).map((layer, index) => {
    pointLink(join(directory, String(index)), layer)
    return String(index)
  })
  if (writes !== 'aside') return { ...plain, above, writable: null }
  const kept = keptIn === null ? [] : [keptIn, `${keptIn}.work`]
  for (const [index, name] of ['upper', 'work'].entries()) {
    makeDirectories(kept[index] ?? join(directory, name))
    if (kept[index] !== undefined) pointLink(join(directory, name), kept[index])
  }
  const writable = keptIn ?? join(directory, 'upper')
  // The top directory takes its owner and permissions from the upper layer.
  setFileOwner(writable, { uid: owner.uid, gid: owner.gid, mode: fileOwner(source).mode | 0o700 })
  return { ...plain, above, writable }
}

/** Mount options of an overlay. `at`: how its directory is named in them. */
export function overlayOptions({ above, writable }: LaidPlace, lower: string, at: string): string {
  const lowers = [...(above ?? []).map((name) => `${at}${name}`), lower].join(':')
  return `lowerdir=${lowers}${writable === null ? '' : `,upperdir=${at}upper,workdir=${at}work`}`
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Makes the directory that is `/tmp` inside. It has the mount points below it, the home directory, and a program that fails for each one
 * of the repository that leads outside: where the sandbox lacks that, another program with the same name must not run instead.
 */
function makeTemporary(directory: string, request: SandboxRequest, { uid, gid }: Owner): void {
  const inside = [
    homeInside,
    absentInside,
    '/tmp/.network',
    ...placesOf(request).flatMap(({ targets }) => targets),
  ]
  for (const target of inside)
    if (isInside(target, '/tmp')) makeDirectories(join(directory, relative('/tmp', target)))
  for (const { name, at, real } of outsidePrograms(request)) {
    const stub = join(directory, relative('/tmp', absentInside), name)
    const said = `${at} leads to ${real}, which this sandbox does not have.`
    // Only with what the shell itself has: `cat` may be one of them.
    writeFileAtomic(stub, `#!/bin/sh\necho '${said.replaceAll("'", `'\\''`)}' >&2\nexit 127\n`)
    setFileOwner(stub, { uid, gid, mode: 0o755 })
  }
  if (isRoot()) setTreeOwner(directory, uid, gid)
  setFileOwner(directory, { uid, gid, mode: 0o1777 })
}

/** Those of the writable directories that count for the disk limit. */
export function countedFor({ repository, caches }: SandboxRequest, writable: readonly string[]) {
  return writable.filter((path) => ![repository, ...caches.map(({ source }) => source)].includes(path))
}

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}
