import { resolve } from 'node:path'
import { isAuthenticated } from '../claude-code/claude-code.ts'
import { fingerprintOf } from '../cli/fingerprint.ts'
import { judgeVersion } from '../cli/judge-version.ts'
import { locateProgram } from '../cli/locate.ts'
import type { AgentProbe, ProbeContext } from '../contract.ts'
import { findSdk, installSdk, sdkPackage } from './sdk.ts'
import type { ClaudeSdkAgent } from './session.ts'

const supported = { from: '0.3.0', below: '0.4.0' }

/** Looks for the package, and for the program when the user named one of his own. Nothing is started. */
export async function probeSdk({ config, base }: ClaudeSdkAgent, { env }: ProbeContext): Promise<AgentProbe> {
  const found = findSdk(config.package === undefined ? undefined : resolve(base, config.package), base)
  const version = found?.version ?? null
  const judged =
    version === null ? null : judgeVersion({ name: sdkPackage, supported, install: installSdk }, version)
  const program =
    config.binary === undefined ? null : locateProgram({ wanted: config.binary, base, install: null }, env)
  const problem =
    found === null
      ? `${sdkPackage} was not found; install it with: ${installSdk}`
      : version === null
        ? `${found.directory} tells no version; reinstall it with: ${installSdk}`
        : program?.kind === 'missing'
          ? program.problem
          : (judged?.problem ?? null)
  return {
    found: judged?.usable === true && program?.kind !== 'missing',
    version,
    authenticated: isAuthenticated(env),
    fingerprint: await fingerprintOf({
      driver: 'claude-sdk',
      config,
      base,
      version,
      inputs: [...config.plugins, ...(typeof config.settings === 'string' ? [config.settings] : [])],
    }),
    supported: `${supported.from} up to, not including, ${supported.below}`,
    ...(found !== null && { path: found.directory }),
    ...(problem !== null && { problem }),
    ...(judged?.usable !== true && { fix: installSdk }),
  }
}
