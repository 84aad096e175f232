import { dirname, join } from 'node:path'
import { findProgram } from '../../io/find-program.ts'
import { homeDirectory } from '../../io/host.ts'
import { entryKind, isDirectory, isFile } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { SandboxRequest } from '../contract.ts'
import { isInside, isOwnEntry, outsidePrograms, searchPath } from '../places.ts'

/** The programs of this machine that a step may use, because there is no image. Everything is read-only. */
export interface HostPrograms {
  /** Visible at the same path inside. */
  readonly trees: readonly string[]
  /** Such as `/bin` to `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** The search path inside. */
  readonly path: string
  /** Variables that some toolchains need when they are not below `$HOME`. */
  readonly env: Readonly<Record<string, string>>
  /** Directories on the caller's PATH that are not visible, because they may contain secrets. */
  readonly hidden: readonly string[]
}

/**
 * The system's programs, and toolchains on the caller's PATH. From a home directory, only directories that are known to
 * contain programs and no secrets are visible, otherwise only the directory on the PATH itself.
 */
export function hostPrograms(request: Pick<SandboxRequest, 'env' | 'repository'>): HostPrograms {
  const { env, repository } = request
  const home = homeDirectory(env)
  const trees = new Set<string>()
  const search: string[] = []
  const hidden: string[] = []
  const extra: Record<string, string> = {}
  const node = nodePrefix(env.PATH ?? '', home)
  for (const entry of (env.PATH ?? '').split(':')) {
    if (isOwnEntry(entry, repository) || !isDirectory(entry)) continue
    if (node !== null && isNodesEntry(entry, node) && !search.includes(`${node}/bin`))
      search.push(`${node}/bin`)
    const shown = treesFor(entry, home)
    if (shown === null) {
      hidden.push(entry)
      continue
    }
    for (const tree of shown.trees) if (isDirectory(tree)) trees.add(tree)
    Object.assign(extra, shown.env)
    search.push(entry)
  }
  if (node !== null) trees.add(node)
  // The Python of a virtual environment in the repository, with its library.
  for (const { real } of outsidePrograms(request)) {
    const [entry, prefix] = [dirname(real), dirname(dirname(real))]
    const shown = isFile(real) ? treesFor(entry, home) : null
    const isPrefix = shown?.trees[0] === entry && shown.trees.length === 1 && entry.endsWith('/bin')
    for (const tree of isPrefix && !isTooBroad(prefix, home) ? [prefix] : (shown?.trees ?? []))
      if (isDirectory(tree)) trees.add(tree)
  }
  for (const standard of standardPath) if (!search.includes(standard)) search.push(standard)
  const system = ['/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32'].map((path) => ({
    path,
    kind: entryKind(path),
  }))
  return {
    trees: [
      '/usr',
      ...system.filter(({ kind }) => kind === 'directory').map(({ path }) => path),
      ...outermost([...trees].toSorted()),
    ],
    links: system
      .filter(({ kind }) => kind === 'link')
      .map(({ path }) => ({ path, target: `.${realPath(path)}` })),
    path: searchPath(request, search.join(':')),
    env: extra,
    hidden,
  }
}

const standardPath = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/bin', '/sbin']

interface Shown {
  readonly trees: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** null when it must not be visible, and not on the path inside. */
function treesFor(entry: string, home: string): Shown | null {
  if (['/usr', '/bin', '/sbin'].some((system) => isInside(entry, system))) return { trees: [] }
  if (isInside(entry, '/nix') || realPath(entry).startsWith('/nix/store/'))
    return { trees: ['/nix/store', entry] }
  const optional = /^\/(?:opt|snap)\/[^/]+/.exec(entry)
  if (optional !== null) return { trees: [optional[0]] }
  for (const { form, trees, env } of inHomes) {
    const match = form.exec(entry)
    const [at = '', owner = ''] = match ?? []
    if (match === null) continue
    const values = Object.entries(env ?? {}).map(([name, value]) => [name, join(owner, value)])
    return {
      trees: [entry, ...trees.map((tree) => (tree === '' ? at : join(owner, tree)))],
      env: Object.fromEntries(values),
    }
  }
  if (isTooBroad(entry, home)) return null
  // Without the directory around it, Python would ignore the environment and use other packages.
  const around = dirname(entry)
  const isEnvironment = ['pyvenv.cfg', 'conda-meta'].some((name) => entryKind(join(around, name)) !== null)
  return { trees: [isEnvironment && !isTooBroad(around, home) ? around : entry] }
}

/** Toolchains below a home directory, the first group, that need more than their directory on the PATH. `''`: the whole match. */
const inHomes: readonly {
  readonly form: RegExp
  readonly trees: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}[] = [
  { form: /^(.+)\/\.nvm\/versions\/node\/[^/]+/, trees: [''] },
  { form: /^(.+)\/\.pyenv(?=\/)/, trees: [''], env: { PYENV_ROOT: '.pyenv' } },
  { form: /^(.+)\/\.rbenv(?=\/)/, trees: [''], env: { RBENV_ROOT: '.rbenv' } },
  { form: /^(.+)\/\.volta(?=\/)/, trees: [''], env: { VOLTA_HOME: '.volta' } },
  { form: /^(.+)\/\.local\/share\/(?:mise|fnm|pnpm)(?=\/|$)/, trees: [''] },
  { form: /^(.+)\/\.sdkman\/candidates(?=\/)/, trees: [''] },
  { form: /^(.+)\/\.local\/share\/uv\/(?:tools|python)\/[^/]+/, trees: [''] },
  // Programs here are often symlinks.
  {
    form: /^(.+)\/\.local\/bin$/,
    trees: ['.local/share/uv/tools', '.local/share/uv/python', '.local/share/pipx', '.local/pipx'],
  },
  // Next to `bin`, cargo stores the token of its registry.
  { form: /^(.+)\/\.cargo\/bin$/, trees: ['.rustup'], env: { RUSTUP_HOME: '.rustup' } },
]

function isTooBroad(entry: string, home: string): boolean {
  const broad = '/ /home /root /etc /var /run /tmp /proc /sys /dev /artifacts /workspace'.split(' ')
  return (
    [home, join(home, '.local'), join(home, '.config')].includes(entry) ||
    broad.includes(entry) ||
    isInside(home, entry) ||
    /^\/(?:proc|sys|dev|run)\//.test(entry)
  )
}

/** Where the first Node on the PATH is installed, unless a system directory contains it. */
function nodePrefix(path: string, home: string): string | null {
  const found = findProgram('node', path)
  const real = found === null ? null : realPath(found)
  if (real === null || !real.endsWith('/bin/node') || isInside(real, '/usr')) return null
  const prefix = dirname(dirname(real))
  return isTooBroad(prefix, home) ? null : prefix
}

function isNodesEntry(entry: string, prefix: string): boolean {
  return realPath(join(entry, 'node')) === join(prefix, 'bin', 'node')
}

/** A tree inside another one is already visible. */
function outermost(sorted: readonly string[]): readonly string[] {
  return sorted.filter((tree) => !sorted.some((other) => other !== tree && isInside(tree, other)))
}
