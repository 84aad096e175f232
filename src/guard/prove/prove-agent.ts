import { compareVersions } from '../../agents/cli/version.ts'
import { GantryError } from '../../core/error.ts'
import { monotonicMs } from '../../io/clock.ts'
import type { ProofGate, ProofStage, Sighting } from './contract.ts'
import { proofGates } from './gates/index.ts'

export interface ProvenGate {
  readonly gate: string
  readonly expected: string
  readonly seen: string
  readonly verdict: ProofVerdict
  /** What the agent lacks, where it lacks something; or why nothing was shown. */
  readonly why: string | null
  readonly durationMs: number
}

/** `not shown`: the agent did not get so far, which says nothing about the guard. */
export type ProofVerdict = 'fires' | 'does not fire' | 'cannot be enforced' | 'not shown'

export interface ProveOptions {
  readonly gates?: readonly ProofGate[]
  /** So many agents at once. */
  readonly concurrency?: number
  readonly onProven?: (proven: ProvenGate) => void
}

/** Every gate, each in a project of its own; in the order of the table, whichever ended first. */
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
  // Whoever takes the scratch away must not do it under an agent that is still being stopped.
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

/** Why this agent, in this version, need not show it; null when it must. */
function limitOf({ agent, version, capabilities }: ProofStage, { capability }: ProofGate): string | null {
  const can = capabilities[capability]
  if (can.kind === 'yes') return null
  if (can.kind === 'no') return can.why
  const lacks = partly.find((each) => each.agent === agent && each.capability === capability)
  const isOld = lacks?.below === undefined || version === null || compareVersions(version, lacks.below) < 0
  return lacks !== undefined && isOld ? can.why : null
}

/** Of what an agent can do only partly: the part the gate would show is the one that is missing. */
const partly: readonly {
  readonly agent: ProofStage['agent']
  readonly capability: ProofGate['capability']
  /** The first version that has it. */
  readonly below?: string
}[] = [
  { agent: 'claude-code', capability: 'failClosed', below: '2.1.295' },
  { agent: 'copilot', capability: 'relayCompaction' },
  { agent: 'opencode', capability: 'relayCompaction' },
]
