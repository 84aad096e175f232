import { compareVersions } from '../../agents/cli/probe.ts'
import { GantryError } from '../../core/error.ts'
import { monotonicMs } from '../../io/clock.ts'
import type { ProofGate, ProofStage, Sighting } from './contract.ts'
import { proofGates } from './gates/index.ts'

export interface ProvenGate {
  readonly gate: string
  readonly expected: string
  readonly seen: string
  readonly verdict: ProofVerdict
  /** What the agent lacks, or why the gate could not be shown. */
  readonly why: string | null
  readonly durationMs: number
}

/** `not shown`: the agent did not get far enough, which proves nothing about the guard. */
export type ProofVerdict = 'fires' | 'does not fire' | 'cannot be enforced' | 'not shown'

export interface ProveOptions {
  readonly gates?: readonly ProofGate[]
  readonly concurrency?: number
  readonly onProven?: (proven: ProvenGate) => void
}

/** Plays every gate in its own project. Rows are in table order, whichever ends first. */
export async function proveAgent(
  stage: ProofStage,
  { gates = proofGates, concurrency = 2, onProven }: ProveOptions = {},
): Promise<readonly ProvenGate[]> {
  const rows: ProvenGate[] = []
  const waiting = [...gates.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, gate] = next
      const proven = await proveGate(stage, gate)
      rows[index] = proven
      onProven?.(proven)
    }
  }
  // Wait for agents that are still stopping, before the caller removes the scratch directory.
  const ended = await Promise.allSettled(Array.from({ length: Math.max(1, concurrency) }, work))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return rows
}

async function proveGate(stage: ProofStage, gate: ProofGate): Promise<ProvenGate> {
  const startedMs = monotonicMs()
  const row = (verdict: ProofVerdict, seen: string, why: string | null): ProvenGate => ({
    gate: gate.name,
    expected: gate.expected,
    seen,
    verdict,
    why,
    durationMs: Math.round(monotonicMs() - startedMs),
  })
  const lack = (await gate.limit?.(stage)) ?? null
  if (lack !== null) return row('cannot be enforced', 'nothing', lack)
  const limit = limitOf(stage, gate)
  try {
    const { fired, seen }: Sighting = await gate.play(stage)
    if (fired) return row('fires', seen, null)
    return limit === null ? row('does not fire', seen, null) : row('cannot be enforced', seen, limit)
  } catch (error) {
    if (!(error instanceof GantryError) || error.code === 'INTERRUPTED') throw error
    return row('not shown', 'nothing', error.message)
  }
}

/** Why this agent, in this version, does not have to show the gate; null when it must. */
function limitOf({ agent, version, capabilities }: ProofStage, { capability }: ProofGate): string | null {
  const can = capabilities[capability]
  if (can.kind === 'yes') return null
  if (can.kind === 'no') return can.why
  const lacks = partly.find((each) => each.agent === agent && each.capability === capability)
  const isOld = lacks?.below === undefined || version === null || compareVersions(version, lacks.below) < 0
  return lacks !== undefined && isOld ? can.why : null
}

/** Capabilities an agent has only partly, and lacks the part that the gate needs. */
const partly: readonly {
  readonly agent: ProofStage['agent']
  readonly capability: ProofGate['capability']
  /** The first version that supports it. */
  readonly below?: string
}[] = [
  { agent: 'claude-code', capability: 'failClosed', below: '2.1.295' },
  { agent: 'copilot', capability: 'relayCompaction' },
  { agent: 'opencode', capability: 'relayCompaction' },
]
