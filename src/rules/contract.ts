/** What a rule of the guard is: its events, the facts it needs, and its answer. `index.ts` lists the rules, one file each. */
import type { HookEvent, HookKind, HookTraits } from '../core/hook-event.ts'
import type { FactName, Facts, History, Note } from '../guard-engine/contract.ts'
import type { Settings } from '../guard-engine/settings/settings.ts'
import type { World } from '../shell/world.ts'

/**
 * One policy. Pure: the same scene gives the same answer, and nothing but the scene is looked at.
 * It speaks only about the kinds of events it names.
 */
export interface Rule {
  readonly name: string
  readonly on: readonly HookKind[]
  /** Facts that cost something and are gathered only when a rule asks. Called before the event is in the history. */
  wants?(scene: Omit<Scene, 'facts'>): readonly FactName[]
  /** null: nothing to say. */
  judge(scene: Scene): RuleAnswer | null
}

export interface Scene {
  readonly event: HookEvent
  readonly traits: HookTraits
  /** Up to and, in `judge`, including this event; the order is the ledger's, not the clock's. */
  readonly history: History
  readonly settings: Settings
  readonly facts: Facts
  readonly world: World
  /** Epoch milliseconds; may go back between events. */
  readonly nowMs: number
}

export interface RuleAnswer {
  /** Keeps the tool call or the change of settings from happening. */
  readonly deny?: string
  /** Keeps the agent from stopping. */
  readonly refuse?: string
  /** Facts for the model. */
  readonly context?: string
  /** For the person. */
  readonly notice?: string
  /** What later events must know; appended to the ledger with the decision. */
  readonly remember?: readonly Note[]
}
