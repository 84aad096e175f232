import { join } from 'node:path'
import { isObject, parseObject } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import { entryKind, isFile } from '../io/path-kind.ts'
import type { SandboxName, SandboxNetwork } from '../sandboxes/contract.ts'
import type { FailedStep } from './contract.ts'
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

interface DiagnosedConfig {
  readonly image: string
  readonly setup?: readonly { readonly command: string; readonly network?: SandboxNetwork }[]
  readonly steps?: readonly { readonly command: string }[]
  /** What ran the step, for the hint. */
  readonly engine?: SandboxName
}

/** What probably helps after a failed step; null when nothing is known. */
export function diagnose(
  failed: Pick<FailedStep, 'command' | 'exit_code' | 'killed'> & { readonly index?: number },
  output: string,
  { image, setup = [], steps = [], engine }: DiagnosedConfig,
  repository: string,
): Diagnosis | null {
  const { command, exit_code, killed, index = Infinity } = failed
  const end = output.slice(-20_000)
  const advise = (subject: string, text: string, lines: string, change: Partial<Diagnosis> = {}) => ({
    ...{ subject, hint: `${text}:\n\n  verification:\n    ${lines}`, ...change },
  })
  if (killed !== undefined) {
    const [, size = '8', unit = 'g', limit = 'memory'] = / at ([\d.]+)(\w*) of (\w+)$/.exec(killed) ?? []
    const lines = `limits: { ${limit}: ${Number(size) * 2}${unit} }`
    return advise(limit, `The step was ${killed}. If it needs more, raise the limit`, lines)
  }
  const isSetup = index < setup.length
  const absent = missingPackage.exec(end)?.slice(1).find(Boolean)
  const [, inside] = /^\/workspace\/(.+)/.exec(absent ?? '') ?? []
  const isBuilt =
    absent !== undefined &&
    /^[./]/.test(absent) &&
    !absent.includes('node_modules') &&
    (inside === undefined || entryKind(join(repository, inside)) === null)
  const build = !isSetup && (isBuilt || notBuilt.test(end)) ? buildFor(repository, command) : null
  if (build !== null && steps.every((step) => step.command !== build)) {
    const text = 'The step needs files that a build makes. Add a step before it'
    return advise(absent ?? 'a build', text, listed('steps', 'build', build), { buildFirst: build })
  }
  const named = missingProgram.exec(end)?.slice(1).find(Boolean)
  const program =
    named ?? (exit_code === 127 && end.trim() === '' ? (command.trim().split(/\s/)[0] ?? null) : null)
  const installs = installsFor(repository, '.', true).filter(({ command: install }) =>
    setup.every((step) => managerOf(step.command) !== managerOf(install)),
  )
  const hasModules = entryKind(join(repository, 'node_modules')) !== null
  const isOther = !hasModules || installs.some((each) => !each.command.includes('npm'))
  const isUnreached = offline.test(end)
  const isOffline = !isSetup && isUnreached
  const isUnknown = exit_code === 127 && isOther && !isSystemProgram(program)
  if (installs.length > 0 && !isSetup && (absent ?? (isUnknown || isOffline || notInstalled.test(end)))) {
    const text =
      'Nothing is installed that the step needs. Install it in setup, which has the network and runs only when a lock file changes'
    const lines = listed('setup', 'install', ...installs.map((each) => each.command))
    return advise(absent ?? program ?? 'packages', text, lines, { setup: installs })
  }
  const isClosed = isSetup && setup[index]?.network === 'none'
  if (isOffline || (isClosed && isUnreached)) {
    const lines = listed(isSetup ? 'setup' : 'steps', '…', command).replace(/ }$/, ', network: allow }')
    const whose = isSetup ? 'which this one does not have' : 'which steps do not have'
    return advise(
      'network',
      `The step needs the network, ${whose}`,
      lines,
      isSetup ? {} : { network: 'allow' },
    )
  }
  // npm prints nothing while it repeats its requests.
  const isSilent = exit_code === 124 && end.trim() === ''
  if (isSetup && (isUnreached || isSilent || unreached.test(end))) {
    const [, how = 'env: { https_proxy: "http://…" }'] =
      mirrors.find(([managers]) => managers.test(manager.exec(command)?.[0] ?? '')) ?? []
    const text =
      'Setup could not reach its registry: this machine has no network, or needs a mirror, which setup does not take from your settings. Name it'
    return advise('network', text, how)
  }
  if (/LeakSanitizer has encountered a fatal error|LeakSanitizer does not work under ptrace/.test(end)) {
    const text = 'LeakSanitizer attaches to processes, which steps cannot'
    return advise('LeakSanitizer', text, 'env: { ASAN_OPTIONS: detect_leaks=0 }')
  }
  const compiler = missingCompiler.exec(end)
  if (compiler !== null) {
    const [, subject = 'compiler'] = compiler
    const text = `There is no ${subject} in the sandbox. On bubblewrap, install it on this machine: sudo apt-get install build-essential cmake. With Docker, choose an image that has one`
    return advise(subject, text, `container_image: ${imageWithCompiler(repository)}`)
  }
  if (exit_code !== 127 && program === null) return null
  const tool = toolInstall(program ?? '', repository)
  const isNew = tool !== null && setup.every((step) => step.command !== tool)
  // bubblewrap has the programs of this machine.
  const where =
    engine !== 'bubblewrap' || image.startsWith('/')
      ? `in the sandbox (${image}). Choose an image that has it`
      : 'in the directories of this machine that steps see. Install it there'
  const text = `The program ${program ?? 'that the step names'} is not ${where}, install it in setup, or correct the command of the step`
  const install = { kind: 'install', command: tool ?? '…', source: `for ${program}` } as const
  return advise(
    program ?? command,
    text,
    listed('setup', 'install', install.command),
    isNew ? { setup: [install] } : {},
  )
}

/** Lines of agent.yaml. */
function listed(key: 'setup' | 'steps', name: string, ...commands: readonly string[]): string {
  const line = (command: string): string => `\n      - { name: ${name}, command: ${JSON.stringify(command)} }`
  return `${key}:${commands.map(line).join('')}`
}

/** What a line of setup installs packages of the repository with. */
function managerOf(command: string): string {
  return (command.includes('~/.local') ? undefined : manager.exec(command)?.[0]) ?? command
}

const manager = /\b(?:pnpm|yarn|bun|npm|uv|poetry|pip|go|cargo|gradlew|mvnw?|bundle|composer)\b/

/** The command that makes what a failed one misses; null when the project has none. */
function buildFor(repository: string, failed: string): string | null {
  const [, under = '', program = ''] = /^(cd \S+ && )?(\S+)/.exec(failed) ?? []
  const read = (name: string): string => readTextIfExists(join(repository, under.slice(3, -4), name)) ?? ''
  const outside = buildsBefore[program]
  if (outside !== undefined) return outside
  if (program === 'make') return failed === `${under}make` ? null : `${under}make`
  if (!/^(?:npm|pnpm|yarn|bun|node)$/.test(program)) return null
  const { scripts } = parseObject(read('package.json')) ?? {}
  const manager = program === 'node' ? 'npm' : program
  if (isObject(scripts) && typeof scripts.build === 'string') return `${under}${manager} run build`
  return read('tsconfig.json') === '' ? null : `${under}npx tsc`
}

/** By the program that runs the tests of a build in a directory of its own. */
export const buildsBefore: Readonly<Record<string, string>> = {
  ctest: 'cmake -S . -B build && cmake --build build',
  meson: 'meson setup build && meson compile -C build',
}

const notBuilt =
  /Failed to change working directory to|Directory '[^']*' does not contain any build|not a meson build directory|Failed to resolve entry for package|valid "main" entry|No tests were found!!!|Could not find '(?:[\w.-]*\/)*(?:dist|build|lib|out)\b|ENOENT: no such file or directory, \w+ '[^']*\/(?:dist|build|lib|out)\//

const notInstalled =
  /ERR_MODULE_NOT_FOUND|Could not (?:resolve|find) (?:module|dependency)|missing go\.sum entry|Could not find .* in (?:locally installed gems|any of the sources)|failed to (?:get|download|load source for dependency)|node_modules.*(?:missing|not found|No such file)|leads to .*, which this sandbox does not have/

const offline =
  /ENETUNREACH|EAI_AGAIN|ENOTFOUND|Temporary failure in name resolution|Network is unreachable|Could not resolve host|dial tcp: lookup|UnknownHostException|Failed to establish a new connection/

/** Also while a service on the loopback is missing, so it says something only about an installation. */
const unreached =
  /[Tt]unnel(?:ing)? (?:connection|socket)? ?(?:failed|could not be established)|Cannot connect to proxy|ECONNREFUSED|ETIMEDOUT|Connection refused|[Cc]onnection timed out|i\/o timeout|Could not transfer artifact|Failed to fetch https?:|has no address, or is this machine|returned error: 502|error sending request for url|ConnectError/

const mavenSettings =
  'MAVEN_ARGS: "--settings=settings.xml" }  # settings.xml: a file of the repository with the mirror. Before Maven 3.9, this option is in .mvn/maven.config'

/** How a package manager gets its mirror, as a line of `verification`. */
const mirrors: readonly (readonly [RegExp, string])[] = [
  [/^(?:npm|pnpm|yarn|bun)$/, 'env: { npm_config_registry: "https://…" }'],
  [/^pip$/, 'env: { PIP_INDEX_URL: "https://…/simple" }'],
  [/^uv$/, 'env: { UV_DEFAULT_INDEX: "https://…/simple" }'],
  [/^go$/, 'env: { GOPROXY: "https://…" }'],
  [/^cargo$/, 'env: { CARGO_HTTP_PROXY: "http://…" }  # or replace-with in .cargo/config.toml'],
  [/^mvnw$/, `env: { MVNW_REPOURL: "https://…", ${mavenSettings}`],
  [/^mvn$/, `env: { ${mavenSettings}`],
]

const missingCompiler =
  /(?:^|[\s/"'])(cc|gcc|g\+\+|c\+\+|clang|make|cmake)(?:: (?:command )?not found|["']?: executable file not found)|linker `cc` not found|No CMAKE_\w+_COMPILER could be found|Unknown compiler\(s\)|no acceptable C compiler|C compiler .*not found/m

/** As shells and package managers report it, with its name. */
export const missingProgram =
  /(?:^|\n)(?:[^\n:]*: )?(?:line )?(?:\d+: )?([\w.+@/-]+): (?:command )?not found\b|exec: "([^"]+)": executable file not found|spawn (\S+) ENOENT|Could not detect ([Nn]inja)/

/** As Node, Python and Go report it, with its name. */
export const missingPackage =
  /Cannot find (?:module|package) '([^']+)'|No module named '?([\w.]+)|cannot find (?:package|module providing package) "?([^\s":]+)|no required module provides package ([^\s:;]+)/

/** Comes with the machine or the image, never with the packages of a project. */
function isSystemProgram(program: string | null): boolean {
  return /^(?:cc|gcc|g\+\+|c\+\+|clang|make|cmake|meson|ninja|node|npm|npx|pnpm|yarn|bun|python3?|pip3?|uv|poetry|go|cargo|rustc|java|mvn|gradle|ruby|bundle|php|composer|docker)$/.test(
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
