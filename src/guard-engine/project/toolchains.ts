import { isObject } from '../../core/json-fields.ts'
import { packageManager, packageScripts, parsed } from './package-scripts.ts'
import { hasTable, hasTarget, type ProjectFiles } from './project-files.ts'

/** One way of building software, recognised by its files. */
export interface Toolchain {
  /** As it is told to the agent. */
  name(files: ProjectFiles): string
  /** The file by which it is recognised; null when the project does not use it. */
  source(files: ProjectFiles): string | null
  /** What verifies a project of this kind; may be nothing. */
  commands(files: ProjectFiles): readonly string[]
}

/** In the order of priority. A new one is a new line. */
export const toolchains: readonly Toolchain[] = [
  {
    name: (files) => `Node.js (${packageManager(files)})`,
    source: (files) => oneOf(files, 'package.json'),
    commands: packageScripts,
  },
  toolchain('Python with pytest', pytestSource, (files) => [
    files.names.has('tests/') ? 'pytest tests/' : 'pytest',
  ]),
  toolchain('Go', goSource, (files) => (goTest(files) === undefined ? [] : ['go test ./...'])),
  toolchain(
    'Rust',
    (files) => oneOf(files, 'Cargo.toml'),
    () => ['cargo test'],
  ),
  toolchain('make', makefile, (files) => targets(files, makefile, 'make test')),
  toolchain('Ruff', ruffSource, () => ['ruff check .']),
  toolchain(
    'just',
    (files) => oneOf(files, 'justfile', 'Justfile', '.justfile'),
    (files) => targets(files, (at) => oneOf(at, 'justfile', 'Justfile', '.justfile'), 'just test'),
  ),
  toolchain(
    'Deno',
    (files) => oneOf(files, 'deno.json', 'deno.jsonc'),
    (files) => {
      const { tasks } = parsed(files.read('deno.json'))
      return [isObject(tasks) && tasks.test !== undefined ? 'deno task test' : 'deno test']
    },
  ),
  toolchain(
    'Elixir',
    (files) => oneOf(files, 'mix.exs'),
    (files) => (files.names.has('test/') ? ['mix test'] : []),
  ),
  toolchain(
    'Gradle',
    (files) => oneOf(files, 'gradlew', 'build.gradle', 'build.gradle.kts'),
    (files) => [files.names.has('gradlew') ? './gradlew test' : 'gradle test'],
  ),
  toolchain(
    'Maven',
    (files) => oneOf(files, 'pom.xml'),
    (files) => [files.names.has('mvnw') ? './mvnw test' : 'mvn test'],
  ),
  toolchain(
    'CMake',
    (files) => oneOf(files, 'CMakeLists.txt'),
    (files) =>
      /^[ \t]*(?:enable_testing|include[ \t]*\([ \t]*CTest)\b/im.test(files.read('CMakeLists.txt') ?? '')
        ? ['ctest --test-dir build']
        : [],
  ),
  toolchain(
    'Ruby',
    (files) => oneOf(files, 'Gemfile'),
    (files) =>
      files.names.has('.rspec') || /\brspec\b/.test(files.read('Gemfile') ?? '') ? ['bundle exec rspec'] : [],
  ),
  toolchain(
    'PHP',
    (files) => oneOf(files, 'composer.json', 'phpunit.xml', 'phpunit.xml.dist'),
    (files) => {
      const { scripts } = parsed(files.read('composer.json'))
      if (isObject(scripts) && scripts.test !== undefined) return ['composer test']
      return oneOf(files, 'phpunit.xml', 'phpunit.xml.dist') === null ? [] : ['vendor/bin/phpunit']
    },
  ),
  toolchain(
    '.NET',
    (files) => [...files.names].sort().find((name) => /\.(?:slnx?|csproj|fsproj)$/.test(name)) ?? null,
    () => ['dotnet test'],
  ),
  toolchain(
    'Swift',
    (files) => oneOf(files, 'Package.swift'),
    (files) => (files.names.has('Tests/') ? ['swift test'] : []),
  ),
  toolchain(
    'golangci-lint',
    (files) => oneOf(files, '.golangci.yml', '.golangci.yaml', '.golangci.toml', '.golangci.json'),
    () => ['golangci-lint run'],
  ),
]

function toolchain(name: string, source: Toolchain['source'], commands: Toolchain['commands']): Toolchain {
  return { name: () => name, source, commands }
}

function oneOf(files: ProjectFiles, ...names: readonly string[]): string | null {
  return names.find((name) => files.names.has(name)) ?? null
}

/** A setup.cfg or tox.ini that says nothing of pytest belongs to something else. */
function pytestSource(files: ProjectFiles): string | null {
  if (files.names.has('pytest.ini')) return 'pytest.ini'
  if (hasTable(files.read('pyproject.toml'), 'tool.pytest')) return 'pyproject.toml'
  if (hasTable(files.read('setup.cfg'), 'tool:pytest')) return 'setup.cfg'
  return hasTable(files.read('tox.ini'), 'pytest') ? 'tox.ini' : null
}

function ruffSource(files: ProjectFiles): string | null {
  const own = oneOf(files, 'ruff.toml', '.ruff.toml')
  return own ?? (hasTable(files.read('pyproject.toml'), 'tool.ruff') ? 'pyproject.toml' : null)
}

function goSource(files: ProjectFiles): string | null {
  return oneOf(files, 'go.mod', 'go.work') ?? goTest(files) ?? null
}

const goDepth = 3

function goTest(files: ProjectFiles): string | undefined {
  for (const path of files.known)
    if (path.endsWith('_test.go') && path.split('/').length <= goDepth) return path
  return undefined
}

function makefile(files: ProjectFiles): string | null {
  return oneOf(files, 'GNUmakefile', 'makefile', 'Makefile')
}

function targets(files: ProjectFiles, source: Toolchain['source'], command: string): readonly string[] {
  const file = source(files)
  return file !== null && hasTarget(files.read(file), 'test') ? [command] : []
}
