import { z } from 'zod'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { installableAgents } from '../agents/hook-installers.ts'
import { defined } from '../core/json-fields.ts'
import { type Explanation, explain } from '../guard/explain.ts'
import { readPayload } from '../guard/hook/answer-hook.ts'
import { type Simulation, simulate } from '../guard/simulate.ts'
import { type AgentStatus, findAgent, guardStatus, lastEvents } from '../guard/status/guard-status.ts'
import { findAgentAbove } from '../guard/unlock/prove-person.ts'
import { type ProjectVerification, verifyProject } from '../guard/verify-project.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { openGuard as openEngine } from '../guard-engine/open-guard.ts'
import { probeKernel } from '../guard-engine/protection/kernel-layer.ts'
import { settingsInForce } from '../guard-engine/settings/settings-in-force.ts'
import { guardLocation } from '../guard-install/guard-location.ts'
import { ownHookProgram } from '../guard-install/hook-program.ts'
import { readOnlyFiles } from '../guard-install/install-hooks.ts'
import type { UninstallOutcome } from '../guard-install/uninstall-hooks.ts'
import { checkOptions, optionFields } from '../io/check-options.ts'
import { rules } from '../rules/index.ts'
import {
  type GuardHooksOptions,
  guardHooksSchema,
  hookedAgent,
  type InstalledGuard,
  installGuard,
  uninstallGuard,
} from './guard-hooks.ts'
import { guardPlace } from './guard-place.ts'

/** The guard of a project. */
export interface ProjectGuard {
  /** The real path of the project. */
  readonly root: string
  /** Puts the guard into the hooks of agents, as `gantry guard install` does. */
  install(options?: GuardHooksOptions): Promise<readonly InstalledGuard[]>
  /** Takes it out again. Throws GantryError USAGE when an agent seems to be the caller. */
  uninstall(options?: GuardHooksOptions): Promise<readonly UninstallOutcome[]>
  /** Where it is installed, whether it is armed, and what each agent cannot enforce. */
  status(agents?: readonly HookedAgent[]): Promise<readonly AgentStatus[]>
  /** Runs the verification commands of the project and records the results as evidence. */
  verify(): Promise<ProjectVerification>
  /** What a decision was based on: its id, or `latest`. */
  explain(decision: string): Explanation
  /** What the guard would answer to a hook now. Writes nothing. */
  simulate(hook: SimulatedHook): Promise<Simulation>
}

export interface GuardPlaceOptions {
  /** The project is the one around this directory. Default: the working directory. */
  readonly cwd?: string
  /** `GANTRY_GUARD_HOME` names the directory of the ledger. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Stops `status` and `verify`. */
  readonly signal?: AbortSignal
}

const simulatedSchema = z.strictObject({
  /** Whose payload it is. Default: `claude-code`. */
  agent: hookedAgent.optional(),
  /** What the agent would write to the hook, as an object or as text. */
  payload: z.union([z.string(), z.record(z.string(), z.unknown())]),
  /** The name of the event, for agents whose payload does not contain it. */
  event: z.string().optional(),
  agentVersion: z.string().optional(),
})

export type SimulatedHook = Readonly<z.output<typeof simulatedSchema>>

/** Opens the guard of the project around a directory. Nothing is installed or changed by that. */
export function openGuard(options: GuardPlaceOptions = {}): ProjectGuard {
  checkOptions('openGuard', z.strictObject(optionFields), options)
  const { cwd = process.cwd(), env = process.env, signal = new AbortController().signal } = options
  const place = guardPlace({ cwd, env })
  const { root } = place
  return {
    root,
    install: async (how = {}) => installGuard(place, checkHooks('install', how)),
    uninstall: async (how = {}) => uninstallGuard(place, checkHooks('uninstall', how)),
    status: (agents = installableAgents) => statusOfGuard(place, agents, signal),
    verify: async () =>
      verifyProject({
        root,
        guardHome: guardHome(env),
        env,
        beneathAgent: (await findAgentAbove({ env, pid: process.pid })) !== null,
        signal,
        nowMs: () => Date.now(),
      }),
    explain: (wanted) => explain({ guardHome: guardHome(env), root, wanted }),
    simulate: async (hook) => {
      checkOptions('simulate', simulatedSchema, hook)
      return simulateHook(defined({ ...hook, cwd, env }))
    },
  }
}

function checkHooks(name: string, how: GuardHooksOptions): GuardHooksOptions {
  checkOptions(name, guardHooksSchema, how)
  return how
}

/** The status of the guard in these agents. Changes nothing. */
export async function statusOfGuard(
  place: HookPlace,
  agents: readonly HookedAgent[],
  signal: AbortSignal,
): Promise<readonly AgentStatus[]> {
  const { env, root } = place
  const read = await settingsInForce({ root, env, userDir: guardHome(env) })
  const events = lastEvents(guardHome(env), root)
  return guardStatus({
    agents,
    place,
    program: ownHookProgram(),
    codecOf: (agent) => hookCodecs[agent],
    findAgent: (agent) => findAgent(agent, { env, signal }),
    lastEvent: (agent) => events.get(agent) ?? null,
    enforcement: read.settings.fileProtection.enforcement,
    settingsProblem: read.kind === 'broken' ? read.problem : null,
    kernel: await probeKernel(),
    readOnly: await readOnlyFiles(place),
  })
}

/** What the guard would answer to a hook that an agent starts in this directory. */
export async function simulateHook({
  agent = 'claude-code',
  payload,
  event = null,
  agentVersion = null,
  cwd,
  env,
}: {
  readonly agent?: HookedAgent
  readonly payload: string | Uint8Array | Readonly<Record<string, unknown>>
  readonly event?: string | null
  readonly agentVersion?: string | null
  readonly cwd: string
  readonly env: HookPlace['env']
}): Promise<Simulation> {
  const location = guardLocation(cwd, env)
  const { hookBin, agentFiles } = location
  return simulate({
    payload: payloadOf(payload),
    codec: hookCodecs[agent],
    // Without a directory in the payload, the working directory is used.
    caller: { event, env: { ...env, PWD: cwd }, version: agentVersion },
    guard: openEngine({ rules, guardHome: location.guardHome, env, hookBin, own: agentFiles }),
    rules,
  })
}

function payloadOf(payload: string | Uint8Array | Readonly<Record<string, unknown>>): unknown {
  if (payload instanceof Uint8Array) return readPayload(payload)
  return typeof payload === 'string' ? readPayload(new TextEncoder().encode(payload)) : payload
}
