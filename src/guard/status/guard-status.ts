import { parseVersion } from '../../agents/cli/version.ts'
import type { Capability, HookCapabilities, HookCodec } from '../../agents/hook-codec.ts'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { hookInstallerOf } from '../../agents/hook-installers.ts'
import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { findAgentProgram } from '../../guard-install/choose-agents.ts'
import { type FoundInstall, findInstalls } from '../../guard-install/find-installs.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import { modifiedAtMs } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'

export interface StatusRequest {
  readonly agents: readonly HookedAgent[]
  readonly place: HookPlace
  readonly program: HookProgram
  readonly codecOf: (agent: HookedAgent) => Pick<HookCodec, 'events' | 'capabilities'>
  readonly findAgent: (agent: HookedAgent) => Promise<FoundAgent | null>
  /** ISO 8601 of the last event of this agent in the ledger of the project; null when there is none. */
  readonly lastEvent: (agent: HookedAgent) => string | null
}

export interface AgentStatus {
  readonly agent: HookedAgent
  readonly found: FoundAgent | null
  readonly installs: readonly FoundInstall[]
  /** `unproven`: all is in place, but whether the agent runs it was never seen and no file shows it. */
  readonly state: 'absent' | 'armed' | 'unproven' | 'not_armed'
  readonly problems: readonly string[]
  readonly lastEvent: string | null
  readonly limits: readonly Limit[]
}

/** What the agent cannot enforce, or only partly, and what the guard does instead. */
export interface Limit {
  readonly capability: keyof HookCapabilities
  readonly kind: 'partly' | 'no'
  readonly why: string
}

/** Looks, and changes nothing. */
export async function guardStatus(request: StatusRequest): Promise<readonly AgentStatus[]> {
  return Promise.all(request.agents.map((agent) => statusOf(agent, request)))
}

/** Is every agent that has hooks of ours held by them? */
export function isArmed(statuses: readonly AgentStatus[]): boolean {
  return statuses.every(({ state }) => state === 'armed' || state === 'absent')
}

async function statusOf(agent: HookedAgent, request: StatusRequest): Promise<AgentStatus> {
  const { place, program, codecOf } = request
  const codec = codecOf(agent)
  const installer = hookInstallerOf(agent, codec)
  const installs = findInstalls(agent, installer, { place, program })
  const lastEvent = request.lastEvent(agent)
  const problems = problemsOf(installs)
  const needsTrust = lastEvent === null ? installer.needsTrust : undefined
  return {
    agent,
    found: await request.findAgent(agent),
    installs,
    state: stateOf(installs, problems, needsTrust),
    problems: installs.length > 0 && needsTrust !== undefined ? [...problems, needsTrust] : problems,
    lastEvent,
    limits: limitsOf(codec.capabilities),
  }
}

function stateOf(
  installs: readonly FoundInstall[],
  problems: readonly string[],
  needsTrust: string | undefined,
): AgentStatus['state'] {
  if (installs.length === 0) return 'absent'
  if (problems.length > 0) return 'not_armed'
  return needsTrust === undefined ? 'armed' : 'unproven'
}

function problemsOf(installs: readonly FoundInstall[]): readonly string[] {
  const twice =
    installs.length > 1
      ? [`every event is judged ${installs.length} times: uninstall all scopes but one`]
      : []
  return [...installs.flatMap(({ problems }) => problems), ...twice]
}

function limitsOf(capabilities: HookCapabilities): readonly Limit[] {
  const all = Object.entries(capabilities) as readonly [keyof HookCapabilities, Capability][]
  return all.flatMap(([capability, { kind, ...rest }]) =>
    kind === 'yes' || !('why' in rest) ? [] : [{ capability, kind, why: rest.why }],
  )
}

/** Older sessions than so many tell nothing about whether the guard is armed now. */
const sessionsMax = 20

/** When each agent last called a hook in this project, ISO 8601, as its ledger tells. `root` is the real path. */
export function lastEvents(guardHome: string, root: string): ReadonlyMap<string, string> {
  const [, ...sessions] = ledgerFiles(guardHome, root)
  const newest = sessions
    .map((path) => ({ path, at: modifiedAtMs(path) ?? 0 }))
    .sort((one, other) => other.at - one.at)
    .slice(0, sessionsMax)
  const found = new Map<string, string>()
  for (const { path } of newest) {
    for (const entry of readLedger(guardHome, path).entries) {
      if (entry.kind !== 'event') continue
      const { agent } = entry.event
      if (entry.at > (found.get(agent) ?? '')) found.set(agent, entry.at)
    }
  }
  return found
}

interface FoundAgent {
  readonly path: string
  /** null when it does not tell. */
  readonly version: string | null
}

/** A first start from a cold disk takes seconds for the larger agents. */
const timeoutMs = 30_000

/** The agent's program and its version; null when it is not on the PATH. */
export async function findAgent(
  agent: HookedAgent,
  {
    env,
    signal,
  }: { readonly env: Readonly<Record<string, string | undefined>>; readonly signal: AbortSignal },
): Promise<FoundAgent | null> {
  const path = findAgentProgram(agent, env)
  if (path === null) return null
  // Programs write into their HOME even when they are only asked for their version.
  using scratch = temporaryDirectory('gantry-status-')
  const result = await exec({
    argv: [path, '--version'],
    cwd: scratch.path,
    env: hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path }),
    timeoutMs,
    maxOutputBytes: 4_096,
    signal,
  })
  return { path, version: parseVersion(result.stdout.text) ?? parseVersion(result.stderr.text) }
}
