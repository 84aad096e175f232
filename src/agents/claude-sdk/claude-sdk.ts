import { agentKind } from '../agent-kind.ts'
import { claudeCredentials } from '../claude-code/claude-code.ts'
import { fingerprintOf, isAuthenticated, judgeVersion, locateProgram } from '../cli/probe.ts'
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
import { type ClaudeSdkAgent, openSdkSession } from './session.ts'

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
  const session = await open(agent, request)
  if (typeof session === 'string') {
    request.emit({ event: 'spawn', command: sdkPackage, args: [] })
    return notStarted(agent.name, request, session)
  }
  let outcome: AgentOutcome
  let warnings: readonly string[] = []
  try {
    outcome = await session.ask(request.prompt)
  } finally {
    warnings = await session.finish()
  }
  const all = [...(outcome.warnings ?? []), ...warnings]
  return { ...outcome, ...(all.length > 0 && { warnings: all }) }
}

async function openSession(agent: ClaudeSdkAgent, request: SessionRequest): Promise<AgentSession> {
  const session = await open(agent, request)
  if (typeof session !== 'string') return { ask: session.ask, close: () => session.finish().then(() => {}) }
  request.emit({ event: 'spawn', command: sdkPackage, args: [] })
  return unstartedSession(agent.name, request, session)
}

async function open(agent: ClaudeSdkAgent, request: SessionRequest) {
  const { config, base } = agent
  const found = findSdk(config.package, base)
  if (found === null) return notFound
  try {
    return openSdkSession(agent, await loadSdk(found), request)
  } catch (cause) {
    return `${sdkPackage} could not be loaded: ${cause}`
  }
}

const notFound = `${sdkPackage} was not found; install it with: ${installSdk}`

const supported = { from: '0.3.0', below: '0.4.0' }

/** Looks for the package, and for the program when the user named one. Nothing is started. */
async function probeSdk({ config, base }: ClaudeSdkAgent, { env }: ProbeContext): Promise<AgentProbe> {
  const found = findSdk(config.package, base)
  const version = found?.version ?? null
  const judged =
    version === null ? null : judgeVersion({ name: sdkPackage, supported, install: installSdk }, version)
  const program =
    config.binary === undefined ? null : locateProgram({ wanted: config.binary, base, install: null }, env)
  const located = program?.problem ?? judged?.problem ?? null
  const problem =
    found === null
      ? notFound
      : version === null
        ? `${found.directory} prints no version; reinstall it with: ${installSdk}`
        : located
  return {
    found: judged?.usable === true && program?.problem == null,
    version,
    authenticated: isAuthenticated({ credentials: claudeCredentials }, config, env),
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
