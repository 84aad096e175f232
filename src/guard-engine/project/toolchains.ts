import { isObject, type JsonObject, parseObject } from '../../core/json-fields.ts'
import { taskFiles } from '../evidence/coverage/task-script.ts'

const managers = ['npm', 'pnpm', 'yarn', 'bun'] as const
type PackageManager = (typeof managers)[number]

const lockfiles: Readonly<Record<string, PackageManager>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
}

/** Scripts that verify, in the order of their output. */
const scripts = ['test', 'lint', 'typecheck'] as const

/** Commands of package.json, for the package manager that the project uses. */
function packageScripts(files: ProjectFiles): readonly string[] {
  const manifest = manifestOf(files)
  const manager = packageManager(files)
  const found = scripts
    .filter((name) => isReal(manifest.scripts[name]))
    .map((name) => invocation(manager, name))
  const hasOwnRunner = manager === 'bun' && !isReal(manifest.scripts.test)
  return hasOwnRunner && hasFile(files, /\.(?:test|spec)\.[jt]sx?$/) ? ['bun test', ...found] : found
}

function hasFile({ known }: ProjectFiles, name: RegExp): boolean {
  for (const path of known) if (name.test(path)) return true
  return false
}

function packageManager(files: ProjectFiles): PackageManager {
  const { packageManager: named } = manifestOf(files)
  const declared = managers.find((name) => named === name || named?.startsWith(`${name}@`))
  const locked = Object.entries(lockfiles).find(([file]) => files.names.has(file))
  return declared ?? locked?.[1] ?? 'npm'
}

function invocation(manager: PackageManager, script: (typeof scripts)[number]): string {
  // `bun test` is Bun's own runner, not the script.
  return script === 'test' && manager !== 'bun' ? `${manager} test` : `${manager} run ${script}`
}

/** `npm init` writes this placeholder when there are no tests. */
function isReal(script: unknown): boolean {
  return typeof script === 'string' && script.trim() !== '' && !/no test specified/.test(script)
}

interface Manifest {
  readonly scripts: Readonly<Record<string, unknown>>
  readonly packageManager: string | undefined
}

function manifestOf(files: ProjectFiles): Manifest {
  const value = parsed(files.read('package.json'))
  const scripts = isObject(value.scripts) ? value.scripts : {}
  const named = value.packageManager
  return { scripts, packageManager: typeof named === 'string' ? named : undefined }
}

/** Parsed JSON, or nothing when the file is invalid, for example while it is being written. */
function parsed(text: string | null): JsonObject {
  return parseObject(text ?? '') ?? {}
}

/** One way of building software, recognized by its files. */
export interface Toolchain {
  /** Name in the context for the agent. */
  name(files: ProjectFiles): string
  /** The file that identifies it; null when the project does not use it. */
  source(files: ProjectFiles): string | null
  /** Commands that verify a project of this kind; may be empty. */
  commands(files: ProjectFiles): readonly string[]
}

const phpunitFiles = ['phpunit.xml', 'phpunit.xml.dist']

/** In order of priority. */
export const toolchains: readonly Toolchain[] = [
  {
    name: (files) => `Node.js (${packageManager(files)})`,
    source: (files) => oneOf(files, 'package.json'),
    commands: packageScripts,
  },
  toolchain('Python with pytest', pytestSource, ({ names }) => [
    names.has('tests/') ? 'pytest tests/' : 'pytest',
  ]),
  toolchain('Go', goSource, goTests),
  toolchain('Rust', ['Cargo.toml'], ['cargo test']),
  toolchain('make', taskFiles.make, (files) => {
    const found = targets(files, taskFiles.make, 'make test')
    return found.length > 0 ? found : targets(files, taskFiles.make, 'make check')
  }),
  toolchain('Ruff', ruffSource, ['ruff check .']),
  toolchain('just', taskFiles.just, (files) => targets(files, taskFiles.just, 'just test')),
  toolchain('Task', taskFiles.task, (files) => {
    const text = files.read(oneOf(files, ...taskFiles.task) ?? '') ?? ''
    const name = ['test', 'check'].find((each) => new RegExp(`^ {2}${each}:`, 'm').test(text))
    return name === undefined ? [] : [`task ${name}`]
  }),
  toolchain('Deno', ['deno.json', 'deno.jsonc'], (files) => {
    const { tasks } = parsed(files.read('deno.json'))
    return [isObject(tasks) && tasks.test !== undefined ? 'deno task test' : 'deno test']
  }),
  toolchain('Elixir', ['mix.exs'], ({ names }) => (names.has('test/') ? ['mix test'] : [])),
  toolchain('Gradle', ['gradlew', 'build.gradle', 'build.gradle.kts'], ({ names }) => [
    names.has('gradlew') ? './gradlew test' : 'gradle test',
  ]),
  toolchain('Maven', ['pom.xml'], ({ names }) => [names.has('mvnw') ? './mvnw test' : 'mvn test']),
  toolchain('CMake', ['CMakeLists.txt'], (files) => {
    const isTested = /^[ \t]*(?:enable_testing|include[ \t]*\([ \t]*CTest)\b/im
    return isTested.test(files.read('CMakeLists.txt') ?? '') ? ['ctest --test-dir build'] : []
  }),
  toolchain('Meson', ['meson.build'], (files) => {
    const isTested = /^[ \t]*(?:test|subdir)[ \t]*\(/m
    return isTested.test(files.read('meson.build') ?? '') ? ['meson test -C build'] : []
  }),
  toolchain('Ruby', ['Gemfile', 'Rakefile'], (files) => {
    if (files.names.has('.rspec') || /\brspec\b/.test(files.read('Gemfile') ?? ''))
      return ['bundle exec rspec']
    const isTask = /::TestTask\b|^[ \t]*task[ \t(]*:?["']?test\b/m
    const launcher = files.names.has('Gemfile') ? 'bundle exec ' : ''
    return isTask.test(files.read('Rakefile') ?? '') ? [`${launcher}rake test`] : []
  }),
  toolchain('PHP', ['composer.json', ...phpunitFiles], (files) => {
    const { scripts } = parsed(files.read('composer.json'))
    if (isObject(scripts) && scripts.test !== undefined) return ['composer test']
    return oneOf(files, ...phpunitFiles) === null ? [] : ['vendor/bin/phpunit']
  }),
  toolchain(
    '.NET',
    ({ names }) => [...names].sort().find((name) => /\.(?:slnx?|csproj|fsproj)$/.test(name)) ?? null,
    ['dotnet test'],
  ),
  toolchain('Swift', ['Package.swift'], ({ names }) => (names.has('Tests/') ? ['swift test'] : [])),
  toolchain(
    'golangci-lint',
    ['.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'],
    ['golangci-lint run'],
  ),
]

function toolchain(
  name: string,
  source: Toolchain['source'] | readonly string[],
  commands: Toolchain['commands'] | readonly string[],
): Toolchain {
  return {
    name: () => name,
    source: typeof source === 'function' ? source : (files) => oneOf(files, ...source),
    commands: typeof commands === 'function' ? commands : () => commands,
  }
}

function oneOf(files: ProjectFiles, ...names: readonly string[]): string | null {
  return names.find((name) => files.names.has(name)) ?? null
}

/** A setup.cfg or tox.ini without pytest belongs to something else. */
function pytestSource(files: ProjectFiles): string | null {
  if (files.names.has('pytest.ini')) return 'pytest.ini'
  if (hasTable(files.read('pyproject.toml'), 'tool.pytest')) return 'pyproject.toml'
  if (hasTable(files.read('setup.cfg'), 'tool:pytest')) return 'setup.cfg'
  if (hasTable(files.read('tox.ini'), 'pytest')) return 'tox.ini'
  // Without settings it is used if it is a dependency and there are tests for it.
  const asks = [
    'pyproject.toml',
    'requirements-dev.txt',
    'requirements.txt',
    'dev-requirements.txt',
    'Pipfile',
  ]
  if (!hasFile(files, pythonTest)) return null
  return (
    asks.find((name) => /^[ \t]*["']?pytest\b|[[,][ \t]*["']pytest\b/m.test(files.read(name) ?? '')) ?? null
  )
}

export const pythonTest = /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/

function ruffSource(files: ProjectFiles): string | null {
  const own = oneOf(files, 'ruff.toml', '.ruff.toml')
  return own ?? (hasTable(files.read('pyproject.toml'), 'tool.ruff') ? 'pyproject.toml' : null)
}

function goSource(files: ProjectFiles): string | null {
  return oneOf(files, 'go.mod', 'go.work') ?? goTest(files) ?? null
}

/** In each module: without one in the root, `go test` finds nothing there, also beside a `go.work`. */
function goTests(files: ProjectFiles): readonly string[] {
  if (goTest(files) === undefined) return []
  if (oneOf(files, 'go.mod') !== null) return ['go test ./...']
  const modules = [...files.known].flatMap((path) => /^(.+)\/go\.mod$/.exec(path)?.[1] ?? [])
  return modules.length === 0
    ? ['go test ./...']
    : modules.sort().map((directory) => `cd ${directory} && go test ./...`)
}

const goDepth = 3

function goTest(files: ProjectFiles): string | undefined {
  for (const path of files.known)
    if (path.endsWith('_test.go') && path.split('/').length <= goDepth) return path
  return undefined
}

function targets(files: ProjectFiles, names: readonly string[], command: string): readonly string[] {
  const file = oneOf(files, ...names)
  return file !== null && hasTarget(files.read(file), command.slice(command.indexOf(' ') + 1))
    ? [command]
    : []
}

/** What discovery reads: the files of a project's root, and the names below it. Tests pass made-up ones. */
export interface ProjectFiles {
  /** Names in the root; directories end in `/`. */
  readonly names: ReadonlySet<string>
  /** Files and directories to a depth of at least 3, as in the tree listing. */
  readonly known: ReadonlySet<string>
  /** Text of a file in the root; null when it does not exist, is not a file, or is too large. */
  read(name: string): string | null
}

/** Whether a line starts with this table header. `[tool.ruff.lint]` also counts for `[tool.ruff]`. */
function hasTable(text: string | null, table: string): boolean {
  if (text === null) return false
  return new RegExp(String.raw`^[ \t]*\[[ \t]*${RegExp.escape(table)}[ \t]*[.\]]`, 'm').test(text)
}

/** Whether a Makefile or a justfile has this target. */
function hasTarget(text: string | null, target: string): boolean {
  return (text ?? '').split('\n').some((line) => {
    if (line.length > maxRuleLength || !line.includes(target)) return false
    const [, names = ''] = /^([\w./%-][\w./% \t-]*?)[ \t]*::?(?!=)/.exec(line) ?? []
    return names.split(/[ \t]+/).includes(target)
  })
}

const maxRuleLength = 1000
