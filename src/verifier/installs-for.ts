import { join } from 'node:path'
import { isObject, parseObject } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isDirectory, isFile } from '../io/path-kind.ts'

/** A line for `setup`, and the file that asks for it. */
export interface Install {
  readonly command: string
  readonly source: string
}

/**
 * What has to be installed before steps can run: one line per package manager. `under`: a directory of the repository.
 * `isMissed`: a step has missed a package, so also where the files name none.
 */
export function installsFor(
  repository: string,
  { under = '.', isMissed = false }: { readonly under?: string; readonly isMissed?: boolean } = {},
): readonly Install[] {
  const place = join(repository, under)
  const has = (name: string): boolean => isFile(join(place, name))
  const read = (name: string): string => (has(name) ? (readTextIfExists(join(place, name)) ?? '') : '')
  return managers.flatMap(({ files, needs }) => {
    const found = files.find(([file]) => has(file))
    if (found === undefined || !(isMissed || needs({ read, place }))) return []
    const [file, install] = found
    const source = under === '.' ? file : `${under}/${file}`
    const command =
      typeof install === 'string'
        ? `${under === '.' ? '' : `cd ${under} && `}${install}`
        : install(read, under)
    return [{ command, source }]
  })
}

interface Manager {
  /** The first that exists decides: lock files before the files that people write. */
  readonly files: readonly (readonly [
    file: string,
    command: string | ((read: Read, under: string) => string),
  ])[]
  readonly needs: (project: { readonly read: Read; readonly place: string }) => boolean
}

type Read = (name: string) => string

const managers: readonly Manager[] = [
  {
    files: [
      ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
      ['yarn.lock', 'yarn install --frozen-lockfile'],
      ['bun.lock', 'bun install --frozen-lockfile'],
      ['bun.lockb', 'bun install --frozen-lockfile'],
      ['package-lock.json', 'npm ci'],
      ['npm-shrinkwrap.json', 'npm ci'],
      ['package.json', 'npm install'],
    ],
    needs: ({ read }) => {
      const manifest = parseObject(read('package.json')) ?? {}
      const isFilled = (value: unknown): boolean => isObject(value) && Object.keys(value).length > 0
      return (
        ['dependencies', 'devDependencies', 'optionalDependencies'].some((key) => isFilled(manifest[key])) ||
        manifest.workspaces !== undefined ||
        read('pnpm-workspace.yaml') !== ''
      )
    },
  },
  {
    files: [
      [
        'uv.lock',
        (_, under) =>
          `${under === '.' ? '' : `cd ${under} && UV_PROJECT_ENVIRONMENT=/workspace/.venv `}uv sync --frozen`,
      ],
      ['poetry.lock', 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction'],
      ['requirements.txt', pipInstall],
      ['requirements-dev.txt', pipInstall],
      ['pyproject.toml', pipInstall],
      ['setup.py', pipInstall],
    ],
    // Without a table for it, pyproject.toml only configures tools.
    needs: ({ read }) =>
      ['uv.lock', 'poetry.lock', 'requirements.txt', 'requirements-dev.txt', 'setup.py'].some(
        (name) => read(name) !== '',
      ) || /^\[(?:project|build-system|tool\.poetry)\]/m.test(read('pyproject.toml')),
  },
  {
    files: [['go.sum', 'go mod download']],
    needs: ({ place }) => !isDirectory(join(place, 'vendor')),
  },
  {
    files: [
      ['Cargo.lock', 'cargo fetch --locked'],
      ['Cargo.toml', 'cargo fetch'],
    ],
    needs: ({ read, place }) =>
      !isDirectory(join(place, 'vendor')) &&
      (/^source = /m.test(read('Cargo.lock')) ||
        (read('Cargo.lock') === '' && /^\[(?:\w+-)?dependencies/m.test(read('Cargo.toml')))),
  },
  {
    files: [
      ['gradlew', './gradlew --no-daemon testClasses'],
      ['mvnw', './mvnw -B -q dependency:go-offline'],
      ['pom.xml', 'mvn -B -q dependency:go-offline'],
    ],
    needs: () => true,
  },
]

/** In the environment whose programs come first on the PATH of steps, with what tests need. */
function pipInstall(read: Read, under: string): string {
  const at = under === '.' ? '' : `${under}/`
  const requirements = [
    'requirements.txt',
    'requirements-dev.txt',
    'dev-requirements.txt',
    'requirements-test.txt',
  ].filter((name) => read(name) !== '')
  const project = read('pyproject.toml')
  const isPackage = /^\[(?:project|build-system|tool\.poetry)\]/m.test(project) || read('setup.py') !== ''
  const optional = /^\[project\.optional-dependencies\]\n((?:(?!\[).*\n?)*)/m.exec(project)?.[1] ?? ''
  const extra = /^(tests?|testing|dev)\s*=/m.exec(optional)?.[1]
  const own = `${at === '' ? '.' : `./${under}`}${extra === undefined ? '' : `[${extra}]`}`
  const words = [
    ...requirements.map((name) => `-r ${at}${name}`),
    ...(isPackage ? [`-e '${own}'`.replaceAll(/'(\.[^[]*)'/g, '$1')] : []),
    'pytest',
  ]
  return `python3 -m venv .venv && .venv/bin/pip install ${words.join(' ')}`
}

/** How to get a program that the sandbox lacks into `~/.local/bin`, which is on the PATH of steps. */
export function toolInstall(program: string): string | null {
  if (/^(?:pnpm|yarn|bun)$/.test(program)) return `npm install --global --prefix ~/.local ${program}`
  if (/^(?:uv|poetry|ruff|mypy|tox|nox|pre-commit)$/.test(program))
    return `python3 -m venv ~/.local && ~/.local/bin/pip install ${program}`
  return null
}
