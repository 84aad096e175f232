import { join } from 'node:path'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { GantryError } from '../../core/error.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { readSettings } from '../../guard-engine/settings/read-settings.ts'
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
  /** The person's project and home: looked at, never touched. */
  readonly place: HookPlace
  readonly program: HookProgram
  readonly boundary: Boundary
  /** Absolute: everything happens below it. */
  readonly scratch: string
  readonly signal: AbortSignal
  readonly onProven?: (name: string, proven: ProvenGate) => void
}

export interface AgentProof {
  readonly name: string
  readonly agent: ProofSubject['agent']
  readonly version: string | null
  /** Why it could not be run; then there are no gates. */
  readonly problem: string | null
  readonly installation: InstallationCheck
  readonly gates: readonly ProvenGate[]
  readonly durationMs: number
}

export interface GuardProof {
  readonly agents: readonly AgentProof[]
  /** What the project's own settings keep from firing in it. */
  readonly switchedOff: readonly string[]
  readonly verdict: 'fires' | 'does not fire' | 'not shown'
}

/** One agent after the other, each with the hooks `guard install` would write. */
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

/** One that does not fire is the news, whatever else could not be shown. */
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

/** What the settings of a project keep from firing there, though the agent could: sentences, none when all is on. */
export async function switchedOffGates(
  root: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly string[]> {
  const read = await readSettings({ root, env, userDir: guardHome(env) })
  if (read.kind === 'broken')
    return [`The settings cannot be read, so that every tool is denied: ${read.problem}`]
  const { contextInjection, loopDetection, checklist, fileProtection } = read.settings
  const asksNothing =
    !checklist.requireVerification && !checklist.requireTestsPass && !checklist.requirePlanCheck
  return [
    ...(contextInjection.enabled ? [] : ['Context at the start and the relay over compaction are off.']),
    ...(loopDetection.enabled ? [] : ['The loop warning is off.']),
    ...(checklist.enabled && !asksNothing ? [] : ['No end of a turn is refused.']),
    ...(fileProtection.enabled && fileProtection.protectedPatterns.length > 0
      ? []
      : ['No file is protected.']),
  ]
}
