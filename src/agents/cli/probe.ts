import { exec } from '../../io/exec.ts'
import type { AgentProbe, ProbeContext } from '../contract.ts'
import type { CliAgent, CliConfig, CliInstance } from './contract.ts'
import { fingerprintOf } from './fingerprint.ts'
import { locate } from './locate.ts'
import { judgeVersion, parseVersion } from './version.ts'

/** A first start from a cold disk takes seconds for the larger agents. */
const versionTimeoutMs = 30_000

/** Looks for the program and asks for its version. A version the driver cannot work with counts as not found. */
export async function probeCli<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: CliInstance<Config>,
  context: ProbeContext,
): Promise<AgentProbe> {
  const { program, supported, install } = definition
  const { config, base } = instance
  const located = locate(definition, instance, context.env)
  const asked =
    located.kind === 'found' ? await askVersion(definition, instance, located.path, context) : null
  const version = asked?.version ?? null
  const judged = version === null ? null : judgeVersion({ name: program, supported, install }, version)
  const problem = located.kind === 'missing' ? located.problem : (asked?.problem ?? judged?.problem ?? null)
  return {
    found: judged?.usable ?? false,
    version,
    authenticated: isAuthenticated(definition, context.env),
    fingerprint: await fingerprintOf({
      driver: definition.driver,
      config,
      base,
      version,
      inputs: definition.inputs?.(config) ?? [],
    }),
    supported: `${supported.from} up to, not including, ${supported.below}`,
    ...(located.kind === 'found' && { path: located.path }),
    ...(problem !== null && { problem }),
    ...(judged?.usable !== true && { fix: install }),
  }
}

async function askVersion<Config extends CliConfig>(
  { versionArgs = ['--version'], install }: CliAgent<Config>,
  { base }: CliInstance<Config>,
  path: string,
  { env, signal }: ProbeContext,
): Promise<{ readonly version: string | null; readonly problem: string | null }> {
  const words = [path, ...versionArgs].join(' ')
  const result = await exec({
    argv: [path, ...versionArgs],
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

function isAuthenticated<Config extends CliConfig>(
  { credentials, isAuthenticated: ask }: CliAgent<Config>,
  env: ProbeContext['env'],
): boolean | null {
  if (ask !== undefined) return ask(env)
  return credentials.some((variable) => (env[variable] ?? '') !== '') ? true : null
}
