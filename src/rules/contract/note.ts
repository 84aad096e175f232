import type { EndState } from '../../core/decision.ts'
import type { Evidence } from '../../core/evidence.ts'
import type { TestInventory } from './facts.ts'

/** What a rule wants remembered. */
export type Note =
  | {
      readonly kind: 'evidence'
      readonly evidence: Evidence
      readonly by: EvidenceSource
      readonly callId: string | null
    }
  /** A declared command ran but its end proves nothing, and why. */
  | { readonly kind: 'no_evidence'; readonly command: string; readonly why: string }
  | {
      readonly kind: 'refused_stop'
      readonly blockers: readonly string[]
      /** Whose stop; null or absent for the main thread. */
      readonly agentId?: string | null
    }
  | { readonly kind: 'ended'; readonly state: EndState; readonly tree: string | null; readonly why: string }
  | { readonly kind: 'warned'; readonly about: string }
  /** A copy of the state that is to be handed over the compaction. */
  | { readonly kind: 'relay'; readonly text: string }
  | { readonly kind: 'tests_seen'; readonly inventory: TestInventory; readonly green: boolean }
  | { readonly kind: 'unlocked'; readonly untilMs: number; readonly by: string }
  | { readonly kind: 'waived'; readonly tree: string | null; readonly by: string; readonly why: string }
  | { readonly kind: 'sealed'; readonly files: Readonly<Record<string, string | null>> }

/** `agent`: seen in the agent's own call. `guard`: a run of ours, which an agent cannot fake. */
export type EvidenceSource = 'agent' | 'guard' | 'verifier'
