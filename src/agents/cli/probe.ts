import { resolve } from 'node:path'
import { contentHash, fileHash, fileIdentity } from '../../io/content-hash.ts'
import { exec } from '../../io/exec.ts'
import { findProgram, isExecutable } from '../../io/find-program.ts'
import { isFile, pathKind } from '../../io/path-kind.ts'
import { treeHash } from '../../io/tree-hash.ts'
import type { AgentInstance, AgentProbe, ProbeContext } from '../contract.ts'
import type { CliAgent, CliConfig } from './contract.ts'

/** A first start from a cold disk takes seconds for the larger agents. */
const versionTimeoutMs = 30_000

/** Finds the program and runs it for its version. An unsupported version counts as not found. */
export async function probeCli<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: AgentInstance<Config>,
  context: ProbeContext,
): Promise<AgentProbe> {
  const { program, supported, install } = definition
  const { config, base } = instance
  const located = locateProgram({ wanted: config.binary ?? program, base, install }, context.env)
  const asked = located.path === null ? null : await askVersion(definition, instance, located.path, context)
  const version = asked?.version ?? null
  const judged = version === null ? null : judgeVersion({ name: program, supported, install }, version)
  const problem = located.problem ?? asked?.problem ?? judged?.problem ?? null
  return {
    found: judged?.usable ?? false,
    version,
    authenticated: isAuthenticated(definition, config, context.env),
    fingerprint: await fingerprintOf({
      driver: definition.driver,
      config,
      base,
      version,
      inputs: definition.inputs?.(config) ?? [],
    }),
    supported: `${supported.from} up to, not including, ${supported.below}`,
    ...(located.path !== null && { path: located.path }),
    ...(problem !== null && { problem }),
    ...(judged?.usable !== true && { fix: install }),
  }
}

async function askVersion<Config extends CliConfig>(
  { install }: CliAgent<Config>,
  { base }: AgentInstance<Config>,
  path: string,
  { env, signal }: ProbeContext,
): Promise<{ readonly version: string | null; readonly problem: string | null }> {
  const words = `${path} --version`
  const result = await exec({
    argv: [path, '--version'],
    cwd: base,
    env,
    timeoutMs: versionTimeoutMs,
    maxOutputBytes: 4_096,
    ...(signal === undefined ? {} : { signal }),
  })
  if (result.ending !== 'exited' || result.exitCode !== 0) {
    const how = result.ending === 'exited' ? `exit code ${result.exitCode}` : result.ending.replace('_', ' ')
    const said = (result.error ?? result.stderr.text).trim().split('\n')[0] ?? ''
    const problem = `\`${words}\` failed (${how})${said === '' ? '' : `: ${said}`}; reinstall it with: ${install}`
    return { version: null, problem }
  }
  const version = parseVersion(result.stdout.text) ?? parseVersion(result.stderr.text)
  const problem = version === null ? `\`${words}\` prints no version; reinstall it with: ${install}` : null
  return { version, problem }
}

/** null when it is unknown: a login of the caller may be in a file or a keychain. */
export function isAuthenticated(
  { credentials, hasKey = hasCredential, worksWithoutKey = false }: KeyFacts,
  config: Parameters<typeof isLockedOut>[0],
  env: ProbeContext['env'],
): boolean | null {
  if (hasKey(env, credentials)) return true
  return !worksWithoutKey && isLockedOut(config, env) ? false : null
}

interface KeyFacts extends Pick<CliAgent<never>, 'credentials' | 'worksWithoutKey'> {
  readonly hasKey?: typeof hasCredential
}

function hasCredential(env: ProbeContext['env'], credentials: readonly string[]): boolean {
  return credentials.some((name) => !name.endsWith('_BASE_URL') && (env[name] ?? '') !== '')
}

/**
 * Whether an agent without a key certainly has no access to a model: a login is in the caller's HOME, which it does not see, and
 * nothing else in its settings or its environment may name a provider.
 */
export function isLockedOut(
  config: Pick<CliConfig, 'home' | 'env' | 'inherit_env'> & { readonly args?: readonly string[] },
  env: ProbeContext['env'],
): boolean {
  const { home, args = [], inherit_env } = config
  const isBare =
    args.length === 0 &&
    inherit_env.length === 0 &&
    Object.keys(config.env).length === 0 &&
    ['settings', 'config', 'profile'].every((key) =>
      isEmpty(Object.entries(config).find(([name]) => name === key)?.[1]),
    )
  return (
    home === 'isolated' &&
    isBare &&
    !Object.entries(env).some(([name, value]) => value !== '' && providerVariable.test(name))
  )
}

const providerVariable =
  /^(?:ANTHROPIC_|CLAUDE_CODE_(?:USE_|OAUTH)|OPENAI_|CODEX_|AZURE_|AWS_|GOOGLE_|GEMINI_|COPILOT_|GH_|GITHUB_TOKEN)/

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  )
}

interface WantedProgram {
  /** A name on PATH, or a path. */
  readonly wanted: string
  readonly base: string
  /** null when the user configured another program than the usual one. */
  readonly install: string | null
}

/** The path of the agent's program, on the agent's own PATH, or the command to install it. */
export function locateProgram(
  { wanted, base, install }: WantedProgram,
  env: Readonly<Record<string, string>>,
): { readonly path: string | null; readonly problem: string | null } {
  const way = install === null ? '.' : `; install it with: ${install}`
  if (!wanted.includes('/')) {
    const path = findProgram(wanted, env.PATH ?? '')
    if (path !== null) return { path, problem: null }
    const otherwise = install === null ? '; install it or give its path.' : way
    return { path: null, problem: `${wanted} is not on the PATH of the agent${otherwise}` }
  }
  const path = resolve(base, wanted)
  if (!isFile(path)) return { path: null, problem: `${path} does not exist${way}` }
  if (!isExecutable(path))
    return {
      path: null,
      problem: `${path} is not executable; use chmod +x, or write its interpreter before it.`,
    }
  return { path, problem: null }
}

/** The first `1.2.3` or `1.2.3-beta.1` in the output of a program; null when there is none. */
export function parseVersion(text: string): string | null {
  return /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)/.exec(text)?.[1] ?? null
}

/** Negative when `a` is older than `b`. A pre-release is older than its release. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [split(a), split(b)]
  for (const index of [0, 1, 2]) {
    const difference = (one.numbers[index] ?? 0) - (other.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (one.pre === other.pre) return 0
  if (one.pre === '') return 1
  if (other.pre === '') return -1
  return one.pre < other.pre ? -1 : 1
}

function split(version: string): { readonly numbers: readonly number[]; readonly pre: string } {
  const dash = version.indexOf('-')
  const core = dash === -1 ? version : version.slice(0, dash)
  return { numbers: core.split('.').map(Number), pre: dash === -1 ? '' : version.slice(dash + 1) }
}

interface VersionRange {
  readonly name: string
  readonly supported: { readonly from: string; readonly below: string }
  readonly install: string
}

/** A version that is too old is unusable; one that is too new may work, with a warning. */
export function judgeVersion({ name, supported: { from, below }, install }: VersionRange, version: string) {
  if (compareVersions(version, from) < 0) {
    const problem = `${name} ${version} is older than ${from}, which this driver needs; update it with: ${install}`
    return { usable: false, problem }
  }
  if (compareVersions(version, below) < 0) return { usable: true, problem: null }
  return {
    usable: true,
    problem: `${name} ${version} is newer than the versions this driver supports (below ${below}); its output may be misread.`,
  }
}

interface FingerprintSource {
  readonly driver: string
  readonly config: { readonly binary?: string | undefined }
  readonly base: string
  readonly version: string | null
  /** Files and directories whose content matters; the base of relative ones is `base`. */
  readonly inputs: readonly string[]
}

/** Everything visible that the behaviour can depend on: settings, version, and the files that the settings name. */
export async function fingerprintOf({
  driver,
  config,
  base,
  version,
  inputs,
}: FingerprintSource): Promise<string> {
  const own = config.binary?.includes('/') === true ? [fileIdentity(resolve(base, config.binary))] : []
  const contents: string[] = [...own]
  for (const path of inputs) contents.push(await hashOf(resolve(base, path)))
  return contentHash([driver, JSON.stringify(config), version ?? '', ...contents])
}

async function hashOf(path: string): Promise<string> {
  switch (pathKind(path)) {
    case 'file':
      return fileHash(path) ?? ''
    case 'directory':
      return (await treeHash(path)).hash
    default:
      return ''
  }
}
