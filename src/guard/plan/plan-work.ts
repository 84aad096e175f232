import type { DeclaredCommand } from '../../guard-engine/contract.ts'
import type { Guard } from '../../guard-engine/open-guard.ts'
import type { ShadowRepository } from '../../io/shadow-repository.ts'
import type { Boundary } from '../../models/boundary/contract.ts'
import type { LiveRun } from '../../store/contract.ts'
import type { PlanStep } from './plan-event.ts'
import type { PlanFile } from './plan-file.ts'
import type { PreparedPlan } from './prepare-plan.ts'
import type { PrivateNotes } from './private-notes.ts'

/** A plan run under way: what every iteration needs. */
export interface PlanWork {
  readonly prepared: PreparedPlan
  readonly run: LiveRun
  readonly file: PlanFile
  readonly shadow: ShadowRepository
  readonly notes: PrivateNotes
  /** Declared when the run began. */
  readonly declared: readonly DeclaredCommand[]
  /** What the agent sees. */
  readonly env: Readonly<Record<string, string>>
  /** The same without the keys to the agent's model: code of the agent's making runs in it. */
  readonly checkEnv: Readonly<Record<string, string>>
  readonly home: string
  readonly tmp: string
  /** What belongs to no commit and is no work of the agent, relative to the root. */
  readonly leaveOut: readonly string[]
  /** For an agent in our own process; null for all others. */
  readonly guard: Guard | null
  boundary(): Promise<Boundary>
  step(step: PlanStep): void
  readonly signal: AbortSignal
}
