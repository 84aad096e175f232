import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { discoverCommands, readAgentsMd } from './discover-commands.ts'
import type { ProjectFiles } from './toolchains.ts'

function filesOf(texts: Record<string, string>): ProjectFiles {
  const known = new Set(
    Object.keys(texts).flatMap((path) => {
      const parts = path.split('/')
      return parts.map(
        (_, index) => parts.slice(0, index + 1).join('/') + (index < parts.length - 1 ? '/' : ''),
      )
    }),
  )
  const names = new Set([...known].filter((path) => !path.slice(0, -1).includes('/')))
  return { names, known, read: (name) => texts[name] ?? null }
}

function commandsOf(
  texts: Record<string, string>,
  declared: { settings?: readonly string[]; plan?: readonly string[] } = {},
): string[] {
  return discoverCommands(filesOf(texts), { settings: [], plan: [], ...declared }).map(
    ({ command }) => command,
  )
}

const manifest = (scripts: Record<string, string>, more: object = {}): string =>
  JSON.stringify({ scripts, ...more })

describe('verification commands', () => {
  test('are found in order of priority, without duplicates', () => {
    const found = discoverCommands(
      filesOf({
        'AGENTS.md': '- `npm test`\n- `ruff check .`\n- `make check`',
        'CLAUDE.md': '- `make check`\n- `tox`',
        'package.json': manifest({ test: 'vitest', lint: 'biome check .' }),
        'pyproject.toml': '[tool.pytest.ini_options]\n[tool.ruff.lint]\n',
        'a/b_test.go': '',
        'Cargo.toml': '',
        Makefile: 'test: all\n\tx\n',
      }),
      { settings: ['./verify'], plan: ['npm  test'] },
    )
    expect(found.map(({ command, source, explicit }) => [command, source, explicit])).toEqual([
      ['./verify', 'harness.json', true],
      ['npm  test', 'IMPLEMENTATION_PLAN.md', true],
      ['ruff check .', 'AGENTS.md', true],
      ['make check', 'AGENTS.md', true],
      ['tox', 'CLAUDE.md', true],
      ['npm run lint', 'package.json', false],
      ['pytest', 'pyproject.toml', false],
      ['go test ./...', 'a/b_test.go', false],
      ['cargo test', 'Cargo.toml', false],
      ['make test', 'Makefile', false],
    ])
    expect(found.find(({ command }) => command === 'npm run lint')?.kind).toBe('lint')
  })

  const cases: Record<string, [texts: Record<string, string>, commands: string[]]> = {
    'nothing at all': [{}, []],
    'the placeholder of npm': [
      { 'package.json': manifest({ test: 'echo "Error: no test specified" && exit 1' }) },
      [],
    ],
    'a package.json that is being written': [{ 'package.json': '{"scripts": {' }, []],
    'scripts that are none': [{ 'package.json': '{"scripts": {"test": 1, "lint": ""}}' }, []],
    'a type check': [{ 'package.json': manifest({ typecheck: 'tsc' }) }, ['npm run typecheck']],
    pnpm: [
      { 'package.json': manifest({ test: 'x', lint: 'y' }), 'pnpm-lock.yaml': '' },
      ['pnpm test', 'pnpm run lint'],
    ],
    yarn: [{ 'package.json': manifest({ test: 'x' }), 'yarn.lock': '' }, ['yarn test']],
    bun: [{ 'package.json': manifest({ test: 'x' }), 'bun.lock': '' }, ['bun run test']],
    'the named package manager before a stray lockfile': [
      {
        'package.json': manifest({ test: 'x' }, { packageManager: 'pnpm@9.1.0' }),
        'package-lock.json': '',
      },
      ['pnpm test'],
    ],
    'pytest with a folder of tests': [{ 'pytest.ini': '', 'tests/a.py': '' }, ['pytest tests/']],
    'a setup.cfg that is about pytest': [{ 'setup.cfg': '[metadata]\n[tool:pytest]\n' }, ['pytest']],
    'a setup.cfg that is not': [{ 'setup.cfg': '[metadata]\nname = pytest\n' }, []],
    'a tox.ini that is about pytest': [{ 'tox.ini': '[pytest]\n' }, ['pytest']],
    'a tox.ini that is not': [{ 'tox.ini': '[tox]\n[testenv]\ndeps = pytest\n' }, []],
    'a pyproject.toml without tables': [{ 'pyproject.toml': '# [tool.pytest]\n[project]\n' }, []],
    'a table that only begins like ruff': [{ 'pyproject.toml': '[tool.ruffian]\n' }, []],
    'ruff by its own file': [{ '.ruff.toml': '' }, ['ruff check .']],
    'a test of Go too deep': [{ 'a/b/c/d_test.go': '' }, []],
    'modules of Go in a workspace': [
      { 'go.work': '', 'a/go.mod': '', 'b/go.mod': '', 'b/b_test.go': '' },
      ['cd a && go test ./...', 'cd b && go test ./...'],
    ],
    'a module of Go without tests': [{ 'go.mod': '', 'a.go': '' }, []],
    'a Makefile without the target': [{ Makefile: 'all:\n\techo test:\ntest := 1\ntesting: x\n' }, []],
    'a Makefile with several targets': [{ Makefile: '.PHONY: test\nbuild test: x\n' }, ['make test']],
    'a Makefile made to be slow': [{ Makefile: `${'test '.repeat(2e5)}\ntest:` }, ['make test']],
    deno: [{ 'deno.json': '{}' }, ['deno test']],
    'a task of Deno': [{ 'deno.json': '{"tasks":{"test":"x"}}' }, ['deno task test']],
    elixir: [{ 'mix.exs': '', 'test/a.exs': '' }, ['mix test']],
    'gradle with its wrapper': [{ 'build.gradle.kts': '', gradlew: '' }, ['./gradlew test']],
    maven: [{ 'pom.xml': '' }, ['mvn test']],
    'cmake with tests': [{ 'CMakeLists.txt': 'project(a)\nenable_testing()\n' }, ['ctest --test-dir build']],
    'cmake without': [{ 'CMakeLists.txt': 'project(a)\n' }, []],
    meson: [{ 'meson.build': "project('a', 'c')\ntest('b', exe)\n" }, ['meson test -C build']],
    'meson without': [{ 'meson.build': "project('a', 'c')\n" }, []],
    rspec: [{ Gemfile: "gem 'rspec'" }, ['bundle exec rspec']],
    'a test of Rake': [{ Gemfile: 'gemspec', Rakefile: 'task :test do\nend' }, ['bundle exec rake test']],
    'Rake without a test': [{ Gemfile: 'gemspec', Rakefile: 'task :doc\ntask default: :test_all' }, []],
    phpunit: [{ 'phpunit.xml.dist': '' }, ['vendor/bin/phpunit']],
    'a script of composer': [{ 'composer.json': '{"scripts":{"test":"x"}}' }, ['composer test']],
    dotnet: [{ 'App.sln': '' }, ['dotnet test']],
    just: [{ justfile: 'test:\n  x\n' }, ['just test']],
  }

  test.each(Object.entries(cases))('are inferred from %s', (_, [texts, commands]) => {
    expect(commandsOf(texts)).toEqual(commands)
  })
})

const corpus = join(import.meta.dirname, '../../../test/corpus/guard/agents-md.jsonl')
const cases: { name: string; text: string; commands: string[] }[] = readFileSync(corpus, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

test.each(cases)('AGENTS.md declarations: $name', ({ text, commands }) => {
  expect(readAgentsMd(text)).toEqual(commands)
})

test('AGENTS.md declares at most twenty commands', () => {
  const text = Array.from({ length: 30 }, (_, index) => `- \`pytest tests/${index}\``).join('\n')
  expect(readAgentsMd(text)).toHaveLength(20)
})
