import { join } from 'node:path'
import { readTextIfExists } from '../io/directory.ts'
import { isDirectory, isFile } from '../io/path-kind.ts'

/** A line for `setup`, and the file that asks for it. */
export interface Install {
  readonly kind: 'install'
  readonly command: string
  readonly source: string
}

/**
 * What has to be installed before steps can run: one line per package manager. `under`: a directory of the repository.
 * `isMissed`: a step has missed a package, so also where the files name none.
 */
export function installsFor(repository: string, under = '.', isMissed = false): readonly Install[] {
  const place = join(repository, under)
  const has = (name: string): boolean => isFile(join(place, name))
  const read = (name: string): string => (has(name) ? (readTextIfExists(join(place, name)) ?? '') : '')
  const [at, into] = under === '.' ? ['', ''] : [`${under}/`, `cd ${under} && `]
  return managers.flatMap(({ asks, files }) => {
    const file = Object.keys(files).find(has)
    if (
      file === undefined ||
      !(isMissed || Object.entries(asks).some(([name, text]) => text.test(read(name))))
    )
      return []
    if (/^go|^Cargo/.test(file) && isDirectory(join(place, 'vendor'))) return []
    const groups = file === 'uv.lock' ? testGroups(read('pyproject.toml')) : ''
    const command = `${files[file] ?? pipInstall(read, at)}${groups}`
    // Only the environment of the root is on the PATH of steps.
    const shared = into !== '' && file === 'uv.lock' ? 'UV_PROJECT_ENVIRONMENT=/workspace/.venv ' : ''
    return [
      {
        kind: 'install',
        command: `${files[file] === null ? '' : into}${shared}${command}`,
        source: `${at}${file}`,
      },
    ]
  })
}

interface Manager {
  /** Texts of files that name packages. */
  readonly asks: Readonly<Record<string, RegExp>>
  /** The first that exists decides: lock files before the files that people write. `null`: pip. */
  readonly files: Readonly<Record<string, string | null>>
}

const isPackage = /^\[(?:project|build-system|tool\.poetry)\]/m
/** Files that pip installs from. */
export const requirements = [
  'requirements.txt',
  'requirements-dev.txt',
  'dev-requirements.txt',
  'requirements-test.txt',
]

const managers: readonly Manager[] = [
  {
    asks: {
      'package.json': /"(?:devD|optionalD|d)ependencies"\s*:\s*\{\s*"|"workspaces"\s*:/,
      'pnpm-workspace.yaml': /\S/,
    },
    files: {
      'pnpm-lock.yaml': 'pnpm install --frozen-lockfile',
      'yarn.lock': 'yarn install --frozen-lockfile',
      'bun.lock': 'bun install --frozen-lockfile',
      'bun.lockb': 'bun install --frozen-lockfile',
      'package-lock.json': 'npm ci',
      'npm-shrinkwrap.json': 'npm ci',
      'package.json': 'npm install',
    },
  },
  {
    // Without one of these tables, pyproject.toml only configures tools.
    asks: {
      'pyproject.toml': isPackage,
      'setup.py': /\S/,
      ...Object.fromEntries(requirements.map((name) => [name, /\S/])),
    },
    files: {
      'uv.lock': 'uv sync --frozen',
      'poetry.lock': 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction',
      ...Object.fromEntries([...requirements, 'pyproject.toml', 'setup.py'].map((name) => [name, null])),
    },
  },
  { asks: { 'go.mod': /^/ }, files: { 'go.sum': 'go mod download' } },
  {
    asks: { 'Cargo.lock': /^source = /m, 'Cargo.toml': /^\[(?:\w+-)?dependencies/m },
    files: { 'Cargo.lock': 'cargo fetch --locked', 'Cargo.toml': 'cargo fetch' },
  },
  {
    asks: { '': /^/ },
    files: {
      gradlew: './gradlew --no-daemon testClasses',
      mvnw: './mvnw -B -q dependency:go-offline',
      'pom.xml': 'mvn -B -q dependency:go-offline',
    },
  },
  {
    asks: { Gemfile: /^[ \t]*gem/m },
    files: { Gemfile: 'bundle config set --local path vendor/bundle && bundle install' },
  },
  { asks: { 'composer.json': /"require(?:-dev)?"\s*:/ }, files: { 'composer.json': 'composer install' } },
]

/** In the environment whose programs come first on the PATH of steps, with what tests need. */
function pipInstall(read: (name: string) => string, at: string): string {
  const project = read('pyproject.toml')
  const extra = testKey(project, 'project.optional-dependencies')
  const own = extra === undefined ? `./${at}` : `'./${at}[${extra}]'`
  const words = [
    ...requirements.filter((name) => read(name) !== '').map((name) => `-r ${at}${name}`),
    ...(isPackage.test(project) || read('setup.py') !== '' ? [`-e ${own}`] : []),
  ]
  return `python3 -m venv .venv && .venv/bin/pip install ${words.join(' ')} pytest`
}

/** What `uv sync` leaves out. It installs the group `dev` itself. */
function testGroups(project: string): string {
  const group = testKey(project, 'dependency-groups') ?? 'dev'
  const extra = testKey(project, 'project.optional-dependencies')
  return `${group === 'dev' ? '' : ` --group ${group}`}${extra === undefined ? '' : ` --extra ${extra}`}`
}

/** The key in a table of pyproject.toml that names what tests need. */
function testKey(project: string, table: string): string | undefined {
  const [, text = ''] = new RegExp(`^\\[${table}\\]\\n((?:(?!\\[).*\\n?)*)`, 'm').exec(project) ?? []
  return (/^(tests?|testing)\s*=/m.exec(text) ?? /^(dev)\s*=/m.exec(text))?.[1]
}

/** How to get a package manager that the sandbox lacks into `~/.local/bin`, which is on the PATH of steps. */
export function toolInstall(program: string, repository: string): string | null {
  if (/^(?:pnpm|yarn|bun)$/.test(program)) {
    const told = /"packageManager"\s*:\s*"(\w+)(@\d[\w.-]*)/.exec(
      readTextIfExists(join(repository, 'package.json')) ?? '',
    )
    return `npm install --global --prefix ~/.local ${program}${told?.[1] === program ? told[2] : ''}`
  }
  // Meson needs Ninja, which is a package of Python too.
  if (/^(?:meson|ninja)$/i.test(program)) return toolInstall('meson ninja', repository)
  const isPython = /^(?:uv|poetry|tox|nox|meson ninja)$/.test(program)
  return isPython ? `python3 -m venv ~/.local && ~/.local/bin/pip install ${program}` : null
}
