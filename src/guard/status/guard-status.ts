import { parseVersion } from '../../agents/cli/probe.ts'
import type { Capability, HookCapabilities, HookCodec } from '../../agents/hook-codec.ts'
import type { HookedAgent } from '../../agents/hook-codecs.ts'
import type { AgentSandbox, HookInstaller, HookPlace } from '../../agents/hook-installer.ts'
import { hookInstallerOf } from '../../agents/hook-installers.ts'
import { counted } from '../../core/counted.ts'
import type { Variables } from '../../core/expand.ts'
import { newestSessions, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import type { KernelProbe } from '../../guard-engine/protection/kernel-layer.ts'
import type { Settings } from '../../guard-engine/settings/settings.ts'
import { findAgentProgram } from '../../guard-install/choose-agents.ts'
import { type FoundInstall, findInstalls, readFiles } from '../../guard-install/find-installs.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import { readTextIfExists } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'

export interface StatusRequest {
  readonly agents: readonly HookedAgent[]
  readonly place: HookPlace
  readonly program: HookProgram
  readonly codecOf: (agent: HookedAgent) => Pick<HookCodec, 'events' | 'capabilities'>
  readonly findAgent: (agent: HookedAgent) => Promise<FoundAgent | null>
  /** Time of the last event of this agent in the project's ledger, ISO 8601; null when there is none. */
  readonly lastEvent: (agent: HookedAgent) => string | null
  /** `middleware.file_protection.enforcement` of the project. */
  readonly enforcement: Settings['fileProtection']['enforcement']
  readonly kernel: KernelProbe
  /** What is wrong with the settings, one problem per line; null when they are valid. */
  readonly settingsProblem: string | null
  /** Protected files and the guard's own in the project, relative to it, for an agent with a sandbox of its own. */
  readonly readOnly: readonly string[]
}

export interface AgentStatus {
  readonly agent: HookedAgent
  readonly found: FoundAgent | null
  readonly installs: readonly FoundInstall[]
  /** `unproven`: everything is installed, but no file or event shows that the agent runs it. */
  readonly state: 'absent' | 'armed' | 'unproven' | 'not_armed'
  readonly problems: readonly string[]
  readonly lastEvent: string | null
  readonly limits: readonly Limit[]
  /** How protected files are protected from this agent. */
  readonly protection: { readonly layer: 'read' | 'notice' | 'kernel'; readonly why: string }
}

/** What the agent cannot enforce, or only partly, and what the guard does instead. */
export interface Limit {
  readonly capability: keyof HookCapabilities
  readonly kind: 'partly' | 'no'
  readonly why: string
}

/** Reads the status. Changes nothing. */
export async function guardStatus(request: StatusRequest): Promise<readonly AgentStatus[]> {
  return Promise.all(request.agents.map((agent) => statusOf(agent, request)))
}

export function isArmed(statuses: readonly AgentStatus[]): boolean {
  return statuses.every(({ state }) => state === 'armed' || state === 'absent')
}

async function statusOf(agent: HookedAgent, request: StatusRequest): Promise<AgentStatus> {
  const { place, program, codecOf } = request
  const codec = codecOf(agent)
  const installer = hookInstallerOf(agent, codec)
  const installs = findInstalls(agent, installer, { place, program })
  const lastEvent = request.lastEvent(agent)
  const problems = [...problemsOf(installs), ...settingsProblems(installs, request)]
  const needsTrust = lastEvent === null ? installer.needsTrust : undefined
  return {
    agent,
    found: await request.findAgent(agent),
    installs,
    state: stateOf(installs, problems, needsTrust),
    problems: installs.length > 0 && needsTrust !== undefined ? [...problems, needsTrust] : problems,
    lastEvent,
    limits: limitsOf(codec.capabilities),
    protection: protectionOf(installer, installs, request),
  }
}

/** The layer that really works, and what is missing for the next one. */
function protectionOf(
  installer: HookInstaller,
  installs: readonly FoundInstall[],
  request: StatusRequest,
): AgentStatus['protection'] {
  const { enforcement, kernel } = request
  const isKernel = installs.some((install) => install.isKernel)
  if (isKernel && kernel.kind === 'works')
    return {
      layer: 'kernel',
      why: 'protected files are mounted read-only for commands, and changes are put back',
    }
  const below = enforcement === 'read' && !isKernel ? 'read' : 'notice'
  const now = below === 'read' ? 'calls are judged before they run' : 'changes are noticed after the call'
  if (isKernel && kernel.kind === 'off')
    return { layer: below, why: `${now}; kernel does not work here: ${kernel.why}` }
  if (installer.sandbox !== undefined)
    return ownSandbox(installer, installer.sandbox, request, { layer: below, now })
  if (installer.shellPrefix === undefined)
    return { layer: below, why: `${now}; kernel is not available for this agent` }
  const more =
    kernel.kind === 'works'
      ? 'kernel works here: gantry guard install --enforce kernel'
      : `kernel does not work here: ${kernel.why}`
  return { layer: below, why: `${now}; ${more}` }
}

/** The files that the agent's own sandbox makes read-only for its commands, as far as its files show. */
function ownSandbox(
  installer: HookInstaller,
  sandbox: AgentSandbox,
  { place, readOnly }: StatusRequest,
  { layer, now }: { readonly layer: 'read' | 'notice'; readonly now: string },
): AgentStatus['protection'] {
  const listed = sandbox.readOnlyIn(readTextIfExists(sandbox.file(place)))
  const overruled = sandbox.overruled(readFiles(installer.files('project', place)))
  if (overruled !== null) return { layer, why: `${now}; kernel is not available: ${overruled}` }
  if (listed === null)
    return { layer, why: `${now}; its own sandbox can do more: gantry guard install --enforce kernel` }
  const missing = readOnly.filter((path) => !listed.includes(path))
  const held = `its own sandbox keeps ${counted(listed.length, 'file')} from being changed by commands, unless it is started without it`
  return missing.length === 0
    ? { layer: 'kernel', why: held }
    : {
        layer,
        why: `${held}, but not ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}: gantry guard install --enforce kernel`,
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
  const there = installs.filter(({ presence }) => presence !== 'missing')
  const twice =
    there.length > 1 ? [`every event is judged ${there.length} times: uninstall all but one scope`] : []
  return [...installs.flatMap(({ problems }) => problems), ...twice]
}

/** With such settings, the guard denies every call and judges no stop. */
function settingsProblems(
  installs: readonly FoundInstall[],
  { settingsProblem }: StatusRequest,
): readonly string[] {
  return installs.length === 0 || settingsProblem === null
    ? []
    : [`every call is denied until the settings are valid: ${settingsProblem.replaceAll('\n', '; ')}`]
}

function limitsOf(capabilities: HookCapabilities): readonly Limit[] {
  const all = Object.entries(capabilities) as readonly [keyof HookCapabilities, Capability][]
  return all.flatMap(([capability, { kind, ...rest }]) =>
    kind === 'yes' || !('why' in rest) ? [] : [{ capability, kind, why: rest.why }],
  )
}

/** Sessions older than this do not show whether the guard is armed now. */
const sessionsMax = 20

/** When each agent last called a hook in this project, ISO 8601, from its ledger. `root` is the real path. */
export function lastEvents(guardHome: string, root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const path of newestSessions(guardHome, root).slice(0, sessionsMax)) {
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
  /** null when it does not report one. */
  readonly version: string | null
}

/** The first start of a large agent from a cold disk takes seconds. */
const timeoutMs = 30_000

/** The agent's program and its version; null when it is not on the PATH. */
export async function findAgent(
  agent: HookedAgent,
  { env, signal }: { readonly env: Variables; readonly signal: AbortSignal },
): Promise<FoundAgent | null> {
  const path = findAgentProgram(agent, env)
  if (path === null) return null
  // Programs write to HOME even when only asked for their version.
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
