import { dirname, isAbsolute, join } from 'node:path'
import { findProgram } from '../../io/find-program.ts'
import { homeDirectory } from '../../io/host.ts'
import { entryKind, isDirectory } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'

/** The programs of this machine that a step may use, since there is no image. Everything is read-only. */
export interface HostPrograms {
  /** Shown at the same path inside. */
  readonly trees: readonly string[]
  /** Such as `/bin` to `usr/bin`. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** The search path inside. */
  readonly path: string
  /** What some toolchains need to be told when they are not below `$HOME`. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * The system's programs, and toolchains that are on the caller's PATH. Of a home directory only what is known to hold programs and
 * no secrets is shown, otherwise nothing but the directory on the PATH itself.
 */
export function hostPrograms(env: Readonly<Record<string, string>>, repository: string): HostPrograms {
  const home = homeDirectory(env)
  const trees = new Set<string>()
  const search: string[] = []
  const extra: Record<string, string> = {}
  const node = nodePrefix(env.PATH ?? '', home)
  for (const entry of (env.PATH ?? '').split(':')) {
    if (!isAbsolute(entry) || !isDirectory(entry)) continue
    if (node !== null && isNodesEntry(entry, node) && !search.includes(`${node}/bin`))
      search.push(`${node}/bin`)
    if (isInside(entry, repository)) continue
    const shown = treesFor(entry, home)
    if (shown === null) continue
    for (const tree of shown.trees) if (isDirectory(tree)) trees.add(tree)
    Object.assign(extra, shown.env)
    search.push(entry)
  }
  if (node !== null) trees.add(node)
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
    path: search.join(':'),
    env: extra,
  }
}

const standardPath = ['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/usr/sbin', '/bin', '/sbin']

interface Shown {
  readonly trees: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** null: not to be shown, and not on the path inside. */
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
  return isTooBroad(entry, home) ? null : { trees: [entry] }
}

/** Toolchains below somebody's home, the first group, that need more than their directory on the PATH. `''`: all that matched. */
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
  // Beside `bin` cargo keeps the token of its registry.
  { form: /^(.+)\/\.cargo\/bin$/, trees: ['.rustup'], env: { RUSTUP_HOME: '.rustup' } },
]

function isTooBroad(entry: string, home: string): boolean {
  const broad = [
    '/',
    '/home',
    '/root',
    '/etc',
    '/var',
    '/run',
    '/tmp',
    '/proc',
    '/sys',
    '/dev',
    '/artifacts',
    '/workspace',
  ]
  return (
    [home, join(home, '.local'), join(home, '.config')].includes(entry) ||
    broad.includes(entry) ||
    isInside(home, entry) ||
    /^\/(?:proc|sys|dev|run)\//.test(entry)
  )
}

/** Where the Node that is first on the PATH is installed, unless the system's own trees show it already. */
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

/** A tree inside another one is shown with it. */
function outermost(sorted: readonly string[]): readonly string[] {
  return sorted.filter((tree) => !sorted.some((other) => other !== tree && isInside(tree, other)))
}

function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}
