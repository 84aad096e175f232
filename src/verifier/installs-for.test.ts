import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { installsFor } from './installs-for.ts'

const needing = '{"devDependencies": {"vitest": "1"}}'
const venv = 'python3 -m venv .venv && .venv/bin/pip install'
const project = '[project]\nname = "p"\n'

test.each([
  [{ 'package.json': needing, 'package-lock.json': '{}' }, ['npm ci']],
  [{ 'package.json': needing }, ['npm install']],
  [{ 'package.json': needing, 'pnpm-lock.yaml': '' }, ['pnpm install --frozen-lockfile']],
  [
    { 'package.json': '{}', 'pnpm-lock.yaml': '', 'pnpm-workspace.yaml': 'packages: []' },
    ['pnpm install --frozen-lockfile'],
  ],
  [{ 'package.json': needing, 'yarn.lock': '' }, ['yarn install --frozen-lockfile']],
  [{ 'package.json': needing, 'bun.lock': '{}' }, ['bun install --frozen-lockfile']],
  [{ 'package.json': '{"scripts": {"test": "node --test"}}', 'package-lock.json': '{}' }, []],
  [{ 'uv.lock': 'version = 1', 'pyproject.toml': project }, ['uv sync --frozen']],
  [
    {
      'uv.lock': '',
      'pyproject.toml': `${project}[dependency-groups]\ndev = ["ruff"]\ntests = ["pytest"]\n\n[tool.x]\ntest = 1\n`,
    },
    ['uv sync --frozen --group tests'],
  ],
  [{ Gemfile: "gem 'rake'" }, ['bundle config set --local path vendor/bundle && bundle install']],
  [{ 'composer.json': '{"require-dev": {"phpunit/phpunit": "*"}}' }, ['composer install']],
  [
    { 'poetry.lock': '#', 'pyproject.toml': '[tool.poetry]\n' },
    ['POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction'],
  ],
  [{ 'requirements.txt': 'click' }, [`${venv} -r requirements.txt pytest`]],
  [
    { 'pyproject.toml': `${project}[project.optional-dependencies]\ndocs = []\ntest = ["pytest"]\n` },
    [`${venv} -e './[test]' pytest`],
  ],
  [{ 'pyproject.toml': '[tool.ruff]\n' }, []],
  [{ 'go.mod': '', 'go.sum': '' }, ['go mod download']],
  [{ 'go.mod': '', 'go.sum': '', 'vendor/modules.txt': '' }, []],
  [
    { 'Cargo.toml': '[dependencies]\na = "1"\n', 'Cargo.lock': 'source = "registry"' },
    ['cargo fetch --locked'],
  ],
  [{ 'Cargo.toml': '[package]\n', 'Cargo.lock': '[[package]]' }, []],
  [{ gradlew: '', 'build.gradle': '' }, ['./gradlew --no-daemon testClasses']],
  [
    { 'package.json': needing, 'requirements.txt': 'click' },
    ['npm install', `${venv} -r requirements.txt pytest`],
  ],
  [{ 'notes.md': '' }, []],
] as [Record<string, string>, string[]][])('%j is installed by %j', async (files, commands) => {
  await using fixture = await createFixture(files)
  expect(installsFor(fixture.path).map(({ command }) => command)).toEqual(commands)
})

test('a directory below the root installs into the environment of the root', async () => {
  await using fixture = await createFixture({ 'web/package.json': needing, 'api/requirements.txt': 'click' })
  expect(installsFor(fixture.path, 'web')).toEqual([
    { kind: 'install', command: 'cd web && npm install', source: 'web/package.json' },
  ])
  expect(installsFor(fixture.path, 'api').map(({ command }) => command)).toEqual([
    `${venv} -r api/requirements.txt pytest`,
  ])
})
