import { resolve } from 'node:path'
import { claudeCredentials } from '../claude-code/claude-code.ts'
import type { AgentDriver, AgentOutcome, AgentRequest, AgentSession, SessionRequest } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { unstartedSession } from '../process/unstarted-session.ts'
import { probeSdk } from './probe.ts'
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
