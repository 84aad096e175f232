import { resolve } from 'node:path'
import { agentKind } from '../agent-kind.ts'
import { claudeCredentials, isAuthenticated } from '../claude-code/claude-code.ts'
import { fingerprintOf } from '../cli/fingerprint.ts'
import { locateProgram } from '../cli/locate.ts'
import { judgeVersion } from '../cli/version.ts'
import type {
  AgentDriver,
  AgentOutcome,
  AgentProbe,
  AgentRequest,
  AgentSession,
  ProbeContext,
  SessionRequest,
} from '../contract.ts'
import { notStarted, unstartedSession } from '../process/not-started.ts'
import { claudeSdkSchema } from './schema.ts'
import { findSdk, installSdk, loadSdk, sdkPackage } from './sdk.ts'
import { type ClaudeSdkAgent, openSdkSession, type SdkSession } from './session.ts'

/** A driver for Claude Code by its SDK. */
export function createClaudeSdkAgent(agent: ClaudeSdkAgent): AgentDriver {
  return {
    name: 'claude-sdk',
    modelAccess: { credentials: claudeCredentials, reportsCost: true },
    probe: (context) => probeSdk(agent, context),
    run: (request) => runOnce(agent, request),
    openSession: (request) => openSession(agent, request),
  }
}

async function runOnce(agent: ClaudeSdkAgent, request: AgentRequest): Promise<AgentOutcome> {
  const opened = await open(agent, request)
  if (opened.kind === 'failed') {
    request.emit({ event: 'spawn', command: sdkPackage, args: [] })
    return notStarted(agent.name, request, opened.problem)
  }
  let outcome: AgentOutcome
  let warnings: readonly string[] = []
  try {
    outcome = await opened.session.ask(request.prompt)
  } finally {
    warnings = await opened.session.finish()
  }
  const all = [...(outcome.warnings ?? []), ...warnings]
  return { ...outcome, ...(all.length > 0 && { warnings: all }) }
}

async function openSession(agent: ClaudeSdkAgent, request: SessionRequest): Promise<AgentSession> {
  const opened = await open(agent, request)
  if (opened.kind === 'opened') {
    return {
      ask: opened.session.ask,
      close: async () => {
        await opened.session.finish()
      },
    }
  }
  request.emit({ event: 'spawn', command: sdkPackage, args: [] })
  return unstartedSession(agent.name, request, opened.problem)
}

type Opened =
  | { readonly kind: 'opened'; readonly session: SdkSession }
  | { readonly kind: 'failed'; readonly problem: string }

async function open(agent: ClaudeSdkAgent, request: SessionRequest): Promise<Opened> {
  const { config, base } = agent
  const path = config.package === undefined ? undefined : resolve(base, config.package)
  const found = findSdk(path, base)
  if (found === null)
    return { kind: 'failed', problem: `${sdkPackage} was not found; install it with: ${installSdk}` }
  try {
    return { kind: 'opened', session: openSdkSession(agent, await loadSdk(found), request) }
  } catch (cause) {
    return { kind: 'failed', problem: `${sdkPackage} could not be loaded: ${cause}` }
  }
}

const supported = { from: '0.3.0', below: '0.4.0' }

/** Looks for the package, and for the program when the user named one of his own. Nothing is started. */
async function probeSdk({ config, base }: ClaudeSdkAgent, { env }: ProbeContext): Promise<AgentProbe> {
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
        ? `${found.directory} prints no version; reinstall it with: ${installSdk}`
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

export const claudeSdkKind = agentKind({
  schema: claudeSdkSchema,
  // The SDK starts the same program with the same settings.
  hooks: 'claude-code',
  create: createClaudeSdkAgent,
})
