import { join } from 'node:path'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { GantryError } from '../../core/error.ts'
import type { Variables } from '../../core/expand.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { settingsInForce } from '../../guard-engine/settings/settings-in-force.ts'
import type { HookProgram } from '../../guard-install/hook-program.ts'
import { monotonicMs } from '../../io/clock.ts'
import { makeDirectories } from '../../io/directory.ts'
import type { Boundary } from '../../models/boundary/contract.ts'
import { checkInstallation, type InstallationCheck } from './check-installation.ts'
import type { ProofSubject } from './choose-subjects.ts'
import { type ProvenGate, proveAgent } from './prove-agent.ts'
import { openStage } from './stage.ts'

export interface ProofRequest {
  readonly subjects: readonly ProofSubject[]
  /** The user's project and home. Only read. */
  readonly place: HookPlace
  readonly program: HookProgram
  readonly boundary: Boundary
  /** Absolute. Everything happens below it. */
  readonly scratch: string
  readonly signal: AbortSignal
  readonly onProven?: (name: string, proven: ProvenGate) => void
}

export interface AgentProof {
  readonly name: string
  readonly agent: ProofSubject['agent']
  readonly version: string | null
  /** Why the agent could not run. Then `gates` is empty. */
  readonly problem: string | null
  readonly installation: InstallationCheck
  readonly gates: readonly ProvenGate[]
  readonly durationMs: number
}

export interface GuardProof {
  readonly agents: readonly AgentProof[]
  /** What the settings of this project switch off. */
  readonly switchedOff: readonly string[]
  readonly verdict: 'fires' | 'does not fire' | 'not shown'
}

/** Proves one agent after the other, each with the hooks `guard install` would write. */
export async function prove(request: ProofRequest): Promise<GuardProof> {
  const agents: AgentProof[] = []
  for (const subject of request.subjects) agents.push(await proveSubject(subject, request))
  const { root, env } = request.place
  return { agents, switchedOff: await switchedOffGates(root, env), verdict: verdictOf(agents) }
}

async function proveSubject(subject: ProofSubject, request: ProofRequest): Promise<AgentProof> {
  const { name, agent } = subject
  const { place, program, boundary, signal, onProven } = request
  const startedMs = monotonicMs()
  const scratch = join(request.scratch, agent)
  makeDirectories(scratch)
  const installation = await checkInstallation(agent, place, program)
  const ended = (found: Pick<AgentProof, 'version' | 'problem' | 'gates'>): AgentProof => ({
    name,
    agent,
    ...found,
    installation,
    durationMs: Math.round(monotonicMs() - startedMs),
  })
  try {
    const stage = await openStage({ ...subject, program, boundary, scratch, env: place.env, signal })
    const gates = await proveAgent(stage, { onProven: (proven) => onProven?.(name, proven) })
    return ended({ version: stage.version, problem: null, gates })
  } catch (error) {
    if (!(error instanceof GantryError) || error.code === 'INTERRUPTED') throw error
    return ended({
      version: null,
      problem: [error.message, error.hint].filter(Boolean).join('. '),
      gates: [],
    })
  }
}

/** A gate that does not fire decides the outcome, even if others could not be shown. */
function verdictOf(agents: readonly AgentProof[]): GuardProof['verdict'] {
  const isOpen = agents.some(
    ({ gates, installation: { state, seal } }) =>
      state === 'different' || seal === 'broken' || gates.some(({ verdict }) => verdict === 'does not fire'),
  )
  if (isOpen) return 'does not fire'
  const isUnshown = agents.some(
    ({ problem, gates }) => problem !== null || gates.some(({ verdict }) => verdict === 'not shown'),
  )
  return isUnshown ? 'not shown' : 'fires'
}

/** What the settings of a project switch off, as sentences. Empty when everything is on. */
export async function switchedOffGates(root: string, env: Variables): Promise<readonly string[]> {
  const read = await settingsInForce({ root, env, userDir: guardHome(env) })
  if (read.kind === 'broken') return [`The settings cannot be read, so every tool is denied: ${read.problem}`]
  const { contextInjection, loopDetection, checklist, fileProtection } = read.settings
  const asksNothing =
    !checklist.requireVerification && !checklist.requireTestsPass && !checklist.requirePlanCheck
  return [
    ...(contextInjection.enabled ? [] : ['Context at the start and the relay over compaction are off.']),
    ...(loopDetection.enabled ? [] : ['The loop warning is off.']),
    ...(checklist.enabled && !asksNothing ? [] : ['Stops are never refused.']),
    ...(fileProtection.enabled ? [] : ['No file is protected.']),
    // Private keys are always in the list.
    ...(fileProtection.enabled && fileProtection.protectedPatterns.length <= 1
      ? ['No file except private keys is protected.']
      : []),
  ]
}
