import { execFileSync } from 'node:child_process'
import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A small repository in the shape of a real one, as it is after `git clone`: nothing is installed or built. */
export interface NewcomerRepository {
  readonly files: Readonly<Record<string, string>>
  /** Run in it before its first commit. */
  readonly prepare?: (directory: string) => void
  /** Programs of the machine or the image, besides sh, node, npm, git, python3, make and cc. */
  readonly needs?: readonly string[]
  /** What `gantry init` writes where everything is there: setup, then steps. */
  readonly setup: readonly string[]
  readonly steps: readonly string[]
  /** Commands whose program neither engine has. */
  readonly leftOut?: readonly string[]
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** A runner of tests as a package that npm installs without a registry. */
const runner = {
  'runner/package.json': json({ name: 'runner', version: '1.0.0', bin: { runner: 'run.js' } }),
  'runner/run.js': `#!/usr/bin/env node
const { readdirSync } = require('node:fs')
const { resolve } = require('node:path')
const files = readdirSync('.', { recursive: true }).filter((name) => /^(?!.*node_modules).*\\.test\\.js$/.test(name))
for (const file of files) require(resolve(file))
console.log(\` Test Files  \${files.length} passed (\${files.length})\\n      Tests  \${files.length} passed (\${files.length})\`)
`,
}

/** Packs the runner below `under`, and writes the lock file. */
function lockWithNpm(directory: string, under = '.'): void {
  const cwd = join(directory, under)
  const npm = (...args: readonly string[]) => execFileSync('npm', args, { cwd, stdio: 'ignore' })
  npm('pack', './runner')
  npm('install', '--no-audit', '--no-fund', '--offline')
  for (const name of ['node_modules', 'runner']) rmSync(join(cwd, name), { recursive: true })
}

const npmPackage = {
  'package.json': json({
    ...{ name: 'shop', version: '1.0.0', scripts: { test: 'runner' } },
    devDependencies: { runner: 'file:runner-1.0.0.tgz' },
  }),
  'src/sum.js': 'exports.sum = (a, b) => a + b\n',
  'src/sum.test.js': "const { sum } = require('./sum.js')\nif (sum(1, 2) !== 3) throw new Error('sum')\n",
  '.gitignore': 'node_modules\ndist\n.venv\ntarget\n',
  ...runner,
}

const python = {
  'src/shop/__init__.py': 'def total(prices):\n    return sum(prices)\n',
  'tests/test_total.py': 'from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n',
  '.gitignore': '.venv\n',
}

/** Package managers and runners that few machines have all of. They install and run what is in the repository. */
export const newcomerTools: Readonly<Record<string, string>> = {
  'tools/pnpm': `#!/usr/bin/env node
const { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } = require('node:fs')
const { execSync } = require('node:child_process')
const packages = existsSync('packages') ? readdirSync('packages') : []
const read = (at) => JSON.parse(readFileSync(at + '/package.json'))
const run = (at, script) => read(at).scripts?.[script] && execSync(read(at).scripts[script], { cwd: at, stdio: 'inherit' })
const [first, second] = process.argv.slice(2)
if (first === 'install') {
  if (!existsSync('pnpm-lock.yaml')) throw new Error('ERR_PNPM_NO_LOCKFILE')
  mkdirSync('node_modules/.bin', { recursive: true })
  for (const name of packages)
    for (const other of Object.keys(read('packages/' + name).dependencies ?? {})) {
      mkdirSync('packages/' + name + '/node_modules', { recursive: true })
      symlinkSync('../../' + other, 'packages/' + name + '/node_modules/' + other)
    }
} else {
  try {
    if (first === '-r') for (const name of packages) run('packages/' + name, second)
    else run('.', first === 'run' ? second : first)
  } catch (error) {
    process.exit(error.status ?? 1)
  }
}
`,
  'tools/bun': `#!/bin/sh
case $1 in
  install) [ -e bun.lock ] && mkdir -p node_modules/left-pad && echo 'module.exports = 1' > node_modules/left-pad/index.js;;
  test) node src/a.test.js && echo " 1 pass\\n 0 fail\\nRan 1 tests across 1 files. [8.00ms]";;
esac
`,
  'tools/uv': `#!/bin/sh
[ "$1" = sync ] && [ -e uv.lock ] || exit 2
exec make-environment "\${UV_PROJECT_ENVIRONMENT:-.venv}"
`,
  'tools/poetry': `#!/bin/sh
[ "$1" = install ] && [ -e poetry.lock ] && [ "$POETRY_VIRTUALENVS_IN_PROJECT" = true ] || exit 2
exec make-environment .venv
`,
  // A package with a runner of tests, installed from the directory it is in.
  'tools/make-environment': `#!/bin/sh
set -e
python3 -m venv --without-pip "$1"
echo "$PWD/src" > "$(echo "$1"/lib/python*/site-packages)/project.pth"
cat > "$1/bin/pytest" <<END
#!$(cd "$1" && pwd)/bin/python3
import glob, runpy, sys
count = 0
for path in glob.glob((sys.argv[1:] or ['.'])[0] + '/**/test_*.py', recursive=True):
    for name, value in runpy.run_path(path).items():
        if name.startswith('test_'):
            value()
            count += 1
print(f'=== {count} passed in 0.01s ===')
END
chmod +x "$1/bin/pytest"
`,
  'tools/go': `#!/bin/sh
[ "$1" = test ] || exit 2
[ -d vendor/example.com/money ] || { echo 'no required module provides package example.com/money; to add it:'; exit 1; }
echo "ok  	example.com/shop	0.012s"
`,
}

export const newcomerRepositories: Readonly<Record<string, NewcomerRepository>> = {
  'npm with a runner': {
    files: {
      ...npmPackage,
      // One of its tools is on the machines of the CI only.
      '.github/workflows/ci.yml':
        'on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm ci\n      - run: |\n          npm test\n          sqlfluff lint schema\n',
    },
    prepare: lockWithNpm,
    setup: ['npm ci'],
    steps: ['npm test'],
    leftOut: ['sqlfluff lint schema (.github/workflows/ci.yml)'],
  },
  'pnpm monorepo that is built before its tests': {
    files: {
      'package.json': json({
        private: true,
        scripts: { build: 'pnpm -r build' },
        packageManager: 'pnpm@9.0.0',
      }),
      'pnpm-workspace.yaml': 'packages: ["packages/*"]\n',
      'pnpm-lock.yaml': 'lockfileVersion: "9.0"\n',
      'packages/money/package.json': json({
        ...{ name: 'money', main: 'dist/index.js' },
        scripts: { build: 'mkdir -p dist && cp src/index.js dist' },
      }),
      'packages/money/src/index.js': 'exports.cents = (euros) => euros * 100\n',
      'packages/shop/package.json': json({
        ...{ name: 'shop', scripts: { test: 'node --test' }, dependencies: { money: 'workspace:*' } },
      }),
      'packages/shop/shop.test.js': `const { cents } = require('../money/dist/index.js')
require('node:test')('cents', () => require('node:assert').equal(cents(1), 100))\n`,
      '.gitignore': 'node_modules\ndist\n',
    },
    setup: ['pnpm install --frozen-lockfile'],
    steps: ['pnpm run build', 'pnpm -r test'],
  },
  bun: {
    files: {
      'package.json': json({ scripts: { test: 'bun test' }, dependencies: { 'left-pad': '1' } }),
      'bun.lock': '{}\n',
      'src/a.test.js': "require('left-pad')\n",
      '.gitignore': 'node_modules\n',
    },
    setup: ['bun install --frozen-lockfile'],
    steps: ['bun run test'],
  },
  'uv and pytest with a src layout': {
    files: {
      ...python,
      'pyproject.toml':
        '[project]\nname = "shop"\nversion = "1"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
      'uv.lock': 'version = 1\n',
    },
    setup: ['uv sync --frozen'],
    steps: ['pytest tests/'],
  },
  poetry: {
    files: {
      ...python,
      'pyproject.toml':
        '[tool.poetry]\nname = "shop"\nversion = "1"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
      'poetry.lock': '# lock\n',
    },
    setup: ['POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction'],
    steps: ['pytest tests/'],
  },
  'Go with vendoring': {
    files: {
      'go.mod': 'module example.com/shop\n\ngo 1.22\n\nrequire example.com/money v1.0.0\n',
      'go.sum': '',
      'vendor/modules.txt': '# example.com/money v1.0.0\nexample.com/money\n',
      'vendor/example.com/money/money.go': 'package money\n',
      'shop_test.go': 'package shop\n',
    },
    setup: [],
    steps: ['go test ./...'],
  },
  cargo: {
    files: {
      'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': '# generated\nversion = 3\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\n',
      'src/lib.rs': '#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n',
      '.gitignore': 'target\n',
    },
    needs: ['cargo', 'cc'],
    setup: [],
    steps: ['cargo test'],
  },
  'CMake and CTest': {
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.10)\nproject(shop C)\nenable_testing()\nadd_executable(sum sum.c)\nadd_test(NAME sum COMMAND sum)\n',
      'sum.c': 'int main(void) { return 1 + 1 == 2 ? 0 : 1; }\n',
      '.gitignore': 'build\n',
    },
    needs: ['cmake', 'ctest', 'cc', 'make'],
    setup: [],
    steps: ['cmake -S . -B build && cmake --build build', 'ctest --test-dir build'],
  },
  Meson: {
    files: {
      'meson.build': "project('shop', 'c')\ntest('sum', executable('sum', 'sum.c'))\n",
      'sum.c': 'int main(void) { return 1 + 1 == 2 ? 0 : 1; }\n',
      '.gitignore': 'build\n',
    },
    needs: ['meson', 'ninja', 'cc'],
    setup: [],
    steps: ['meson setup build && meson compile -C build', 'meson test -C build'],
  },
  make: {
    files: {
      Makefile: 'sum: sum.c\n\tcc -o $@ sum.c\n\ntest: sum\n\t./sum\n\n.PHONY: test\n',
      'sum.c': 'int main(void) { return 1 + 1 == 2 ? 0 : 1; }\n',
      '.gitignore': 'sum\n',
    },
    setup: [],
    steps: ['make test'],
  },
  'Java with a wrapper': {
    files: {
      'pom.xml': '<project><modelVersion>4.0.0</modelVersion></project>\n',
      mvnw: `#!/bin/sh
case " $* " in
  *" dependency:go-offline "*) mkdir -p ~/.m2/wrapper && echo here > ~/.m2/wrapper/dists;;
  *) [ -e ~/.m2/wrapper/dists ] || { echo 'java.net.UnknownHostException: repo.example'; exit 1; }
     echo 'Tests run: 2, Failures: 0, Errors: 0, Skipped: 0'; echo '[INFO] BUILD SUCCESS';;
esac
`,
      'src/test/java/ShopTest.java': 'class ShopTest {}\n',
    },
    setup: ['./mvnw -B -q dependency:go-offline'],
    steps: ['./mvnw test'],
  },
  'Python and Node side by side': {
    files: {
      ...Object.fromEntries(Object.entries(npmPackage).map(([name, text]) => [`web/${name}`, text])),
      ...Object.fromEntries(Object.entries(python).map(([name, text]) => [`api/${name}`, text])),
      'api/pyproject.toml': '[project]\nname = "shop"\nversion = "1"\n\n[tool.pytest.ini_options]\n',
      'api/uv.lock': 'version = 1\n',
      '.gitignore': '.venv\nnode_modules\n',
    },
    prepare: (directory) => lockWithNpm(directory, 'web'),
    setup: ['cd api && UV_PROJECT_ENVIRONMENT=/workspace/.venv uv sync --frozen', 'cd web && npm ci'],
    steps: ['cd api && pytest tests/', 'cd web && npm test'],
  },
  'a linked git worktree': {
    files: {
      'package.json': json({ scripts: { test: 'git rev-parse HEAD && git status --short && node --test' } }),
      'a.test.js': "require('node:test')('a', () => {})\n",
    },
    setup: [],
    steps: ['npm test'],
  },
}

/** Makes the directory a linked worktree of a repository beside it. */
export function asLinkedWorktree(directory: string): void {
  const main = `${directory}-main`
  renameSync(directory, main)
  execFileSync('git', ['worktree', 'add', '-q', directory], { cwd: main, stdio: 'ignore' })
}
