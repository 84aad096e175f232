import { join } from 'node:path'
import { isObject, parseObject } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import { entryKind, isFile } from '../io/path-kind.ts'
import type { FailedStep, VerificationConfig } from './contract.ts'
import { type Install, installsFor, toolInstall } from './installs-for.ts'

/** Why a step failed, as far as its output shows it. */
export interface Diagnosis {
  /** For people: what probably helps, with the lines to add to agent.yaml. */
  readonly hint: string
  /** What is missing. */
  readonly subject: string
  /** Changes of agent.yaml that may help, the best first. */
  readonly setup?: readonly Install[]
  readonly buildFirst?: string
  readonly network?: 'allow'
}

/** What probably helps after a failed step; null when nothing is known. */
export function diagnose(
  {
    command,
    exit_code,
    killed,
    index,
  }: Pick<FailedStep, 'command' | 'exit_code' | 'killed'> & { readonly index?: number },
  output: string,
  { image, setup = [] }: Pick<VerificationConfig, 'image' | 'setup'>,
  repository: string,
): Diagnosis | null {
  const end = output.slice(-20_000)
  if (killed !== undefined) {
    const [, limit = 'memory'] = / of (\w+)$/.exec(killed) ?? []
    const hint = `The step was ${killed}. If it needs more, raise the limit:\n\n  verification:\n    limits: { ${limit}: ${limit === 'disk' ? '8g' : '16g'} }`
    return { hint, subject: limit }
  }
  const isSetup = index !== undefined && index < setup.length
  const absent = missingPackage.exec(end)?.slice(1).find(Boolean)
  const built = absent !== undefined && /^[./]/.test(absent) && !absent.includes('node_modules')
  const build = isSetup ? null : buildFor(repository, command)
  if (build !== null && (built || notBuilt.test(end)))
    return {
      hint: `The step needs files that a build makes. Add a step before it:\n\n  verification:\n    steps:\n      - { name: build, command: ${JSON.stringify(build)} }`,
      subject: `build ${absent ?? ''}`,
      buildFirst: build,
    }
  const named = missingProgram.exec(end)?.slice(1).find(Boolean)
  const program = named ?? (end.trim() === '' ? (command.trim().split(/\s/)[0] ?? null) : null)
  const installs = installsFor(repository, { isMissed: true }).filter((each) =>
    setup.every((step) => managerOf(step.command) !== managerOf(each.command)),
  )
  const hasModules = entryKind(join(repository, 'node_modules')) !== null
  const isOffline = offline.test(end)
  if (
    installs.length > 0 &&
    !isSetup &&
    (absent !== undefined ||
      notInstalled.test(end) ||
      isOffline ||
      (exit_code === 127 &&
        (!hasModules || installs.some((each) => !each.command.includes('npm'))) &&
        !isSystemProgram(program)))
  )
    return {
      hint: `Nothing is installed that the step needs. Install it in setup, which has the network and runs only when a lock file changes:${setupLines(installs)}`,
      subject: absent ?? program ?? 'packages',
      setup: installs,
    }
  if (isOffline && !isSetup)
    return {
      hint: `The step needs the network, which steps do not have:\n\n  verification:\n    steps:\n      - { name: …, command: ${JSON.stringify(command)}, network: allow }`,
      subject: 'network',
      network: 'allow',
    }
  if (/LeakSanitizer has encountered a fatal error|LeakSanitizer does not work under ptrace/.test(end)) {
    const hint =
      'LeakSanitizer attaches to processes, which steps cannot:\n\n  verification:\n    env: { ASAN_OPTIONS: detect_leaks=0 }'
    return { hint, subject: 'LeakSanitizer' }
  }
  const compiler =
    /(?:^|[\s/"'])(cc|gcc|g\+\+|c\+\+|clang|make|cmake)(?:: (?:command )?not found|["']?: executable file not found)|linker `cc` not found|No CMAKE_\w+_COMPILER could be found|no acceptable C compiler|C compiler .*not found/m.exec(
      end,
    )
  if (compiler !== null) {
    const subject = compiler[1] ?? 'compiler'
    const hint = `There is no ${subject} in the sandbox. With Docker, choose an image that has one:\n\n  verification:\n    container_image: ${imageWithCompiler(repository)}\n\nOn bubblewrap, install it on this machine: sudo apt-get install build-essential cmake.`
    return { hint, subject }
  }
  if (exit_code !== 127 && program === null) return null
  const tool = toolInstall(program ?? '')
  const tools = tool === null ? [] : [{ command: tool, source: `for ${program}` }]
  return {
    hint: `The program ${program ?? 'that the step names'} is not in the sandbox (${image}). Choose an image that has it, install it in setup, or correct the command of the step:${setupLines(tool === null ? [{ command: '…' }] : tools)}`,
    subject: program ?? command,
    ...(tool !== null && setup.every((step) => step.command !== tool) && { setup: tools }),
  }
}

/** The one that a line of setup installs packages with. */
function managerOf(command: string): string {
  const isTool = command.includes('~/.local')
  return isTool
    ? command
    : (/\b(?:pnpm|yarn|bun|npm|uv|poetry|pip|go|cargo|gradlew|mvnw?)\b/.exec(command)?.[0] ?? command)
}

function setupLines(installs: readonly Pick<Install, 'command'>[]): string {
  const lines = installs.map(
    ({ command }) => `\n      - { name: install, command: ${JSON.stringify(command)} }`,
  )
  return `\n\n  verification:\n    setup:${lines.join('')}`
}

/** The command that makes what a failed one misses; null when the project has none. */
function buildFor(repository: string, failed: string): string | null {
  const [, under = '', program = ''] = /^(cd \S+ && )?(\S+)/.exec(failed) ?? []
  const read = (name: string): string => readTextIfExists(join(repository, under.slice(3, -4), name)) ?? ''
  if (program === 'ctest') return cmakeBuild
  if (program === 'make') return failed === `${under}make` ? null : `${under}make`
  if (!/^(?:npm|pnpm|yarn|bun|node)$/.test(program)) return null
  const { scripts } = parseObject(read('package.json')) ?? {}
  const manager = program === 'node' ? 'npm' : program
  if (isObject(scripts) && typeof scripts.build === 'string') return `${under}${manager} run build`
  return read('tsconfig.json') === '' ? null : `${under}npx tsc`
}

export const cmakeBuild = 'cmake -S . -B build && cmake --build build'

const notBuilt =
  /Failed to change working directory to|No tests were found!!!|ENOENT: no such file or directory, \w+ '[^']*\/(?:dist|build|lib|out)\//

const notInstalled =
  /ERR_MODULE_NOT_FOUND|Could not (?:resolve|find) (?:module|dependency)|missing go\.sum entry|failed to (?:get|download|load source for dependency)|node_modules.*(?:missing|not found|No such file)|leads to .*, which this sandbox does not have/

const offline =
  /ENETUNREACH|EAI_AGAIN|ENOTFOUND|Temporary failure in name resolution|Network is unreachable|Could not resolve host|dial tcp: lookup|UnknownHostException|Failed to establish a new connection/

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
