import { join } from 'node:path'
import { entryKind, isFile } from '../io/path-kind.ts'
import type { FailedStep, VerificationConfig } from './contract.ts'

/** What probably helps after a failed step, with the lines to add to agent.yaml; null when nothing is known. */
export function hintFor(
  { command, exit_code, killed }: Pick<FailedStep, 'command' | 'exit_code' | 'killed'>,
  output: string,
  { image, setup = [] }: Pick<VerificationConfig, 'image' | 'setup'>,
  repository: string,
): string | null {
  const end = output.slice(-20_000)
  if (killed !== undefined) {
    const [, limit = 'memory'] = / of (\w+)$/.exec(killed) ?? []
    return `The step was ${killed}. If it needs more, raise the limit:\n\n  verification:\n    limits: { ${limit}: ${limit === 'disk' ? '8g' : '16g'} }`
  }
  const install = installCommand(repository)
  const isMissingPackage =
    missingPackage.test(end) ||
    /ERR_MODULE_NOT_FOUND|Could not (?:resolve|find) (?:module|dependency)|missing go\.sum entry|failed to (?:get|download|load source for dependency)|node_modules.*(?:missing|not found|No such file)|leads to .*, which this sandbox does not have/.test(
      end,
    )
  const named = missingProgram.exec(end)?.slice(1).find(Boolean)
  const program = named ?? (end.trim() === '' ? (command.trim().split(/\s/)[0] ?? null) : null)
  const isInstalled = setup.some((step) => step.command === install)
  const hasModules = entryKind(join(repository, 'node_modules')) !== null
  if (
    install !== null &&
    !isInstalled &&
    (isMissingPackage ||
      (exit_code === 127 && (!hasModules || !install.includes('npm')) && !isSystemProgram(program)))
  )
    return `Nothing is installed that the step needs. Install it in setup, which has the network and runs only when a lock file changes:\n\n  verification:\n    setup:\n      - { name: install, command: ${JSON.stringify(install)} }`
  if (/LeakSanitizer has encountered a fatal error|LeakSanitizer does not work under ptrace/.test(end))
    return 'LeakSanitizer attaches to processes, which steps cannot:\n\n  verification:\n    env: { ASAN_OPTIONS: detect_leaks=0 }'
  const compiler =
    /(?:^|[\s/"'])(cc|gcc|g\+\+|c\+\+|clang|make|cmake)(?:: (?:command )?not found|["']?: executable file not found)|linker `cc` not found|No CMAKE_\w+_COMPILER could be found|no acceptable C compiler|C compiler .*not found/m.exec(
      end,
    )
  if (compiler !== null)
    return `There is no ${compiler[1] ?? 'compiler'} in the sandbox. With Docker, choose an image that has one:\n\n  verification:\n    container_image: ${imageWithCompiler(repository)}\n\nOn bubblewrap, install it on this machine: sudo apt-get install build-essential cmake.`
  if (exit_code === 127 || program !== null)
    return `The program ${program ?? 'that the step names'} is not in the sandbox (${image}). Choose an image that has it, install it in setup, or correct the command of the step:\n\n  verification:\n    setup:\n      - { name: install, command: "…" }`
  return null
}

/** By the files of the repository; null when it needs none. */
export function installCommand(repository: string): string | null {
  const has = (name: string): boolean => isFile(join(repository, name))
  const found = installs.find(([file]) => has(file))
  return found === undefined ? null : found[1]
}

/** The first that exists decides: lock files before the files that people write. */
const installs: readonly (readonly [file: string, command: string])[] = [
  ['pnpm-lock.yaml', 'pnpm install --frozen-lockfile'],
  ['yarn.lock', 'yarn install --frozen-lockfile'],
  ['bun.lock', 'bun install --frozen-lockfile'],
  ['bun.lockb', 'bun install --frozen-lockfile'],
  ['package-lock.json', 'npm ci'],
  ['npm-shrinkwrap.json', 'npm ci'],
  ['uv.lock', 'uv sync --frozen'],
  ['poetry.lock', 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction'],
  ['go.sum', 'go mod download'],
  ['Cargo.lock', 'cargo fetch --locked'],
  ['package.json', 'npm install'],
  ['requirements.txt', 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt'],
  ['pyproject.toml', 'python3 -m venv .venv && .venv/bin/pip install -e .'],
  ['setup.py', 'python3 -m venv .venv && .venv/bin/pip install -e .'],
  ['Cargo.toml', 'cargo fetch'],
]

/** As shells and package managers report it, with its name. */
export const missingProgram =
  /(?:^|\n)(?:[^\n:]*: )?(?:line )?(?:\d+: )?([\w.+@/-]+): (?:command )?not found\b|exec: "([^"]+)": executable file not found|spawn (\S+) ENOENT/

/** As Node, Python and Go report it, with its name. */
export const missingPackage =
  /Cannot find (?:module|package) '([^']+)'|No module named '?([\w.]+)|cannot find (?:package|module providing package) "?([^\s":]+)|no required module provides package ([^\s:;]+)/

/** Comes with the machine or the image, never with the packages of a project. */
function isSystemProgram(program: string | null): boolean {
  return /^(?:cc|gcc|g\+\+|c\+\+|clang|make|cmake|node|npm|npx|pnpm|yarn|bun|python3?|pip3?|uv|poetry|go|cargo|rustc|java|mvn|gradle|docker)$/.test(
    program ?? '',
  )
}

function imageWithCompiler(repository: string): string {
  const has = (name: string): boolean => isFile(join(repository, name))
  if (has('package.json')) return 'node:24'
  if (has('Cargo.toml')) return 'rust:1'
  if (has('go.mod')) return 'golang:1.25'
  return has('pyproject.toml') || has('setup.py') ? 'python:3.13' : 'gcc:14'
}
