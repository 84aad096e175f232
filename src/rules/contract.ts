/** What a rule of the guard is: its events, the facts it needs, and its answer. `index.ts` lists the rules, one file each. */
import type { HookEvent, HookKind, HookTraits } from '../core/hook-event.ts'
import type { FactName, Facts, History, Note } from '../guard-engine/contract.ts'
import type { Settings } from '../guard-engine/settings/settings.ts'
import type { World } from '../shell/world.ts'

/** One policy. Pure: its answer depends only on the scene. It is asked only about the kinds of events it names. */
export interface Rule {
  readonly name: string
  readonly on: readonly HookKind[]
  /** Expensive facts, gathered only when a rule wants them. Called before the event is in the history. */
  wants?(scene: Omit<Scene, 'facts'>): readonly FactName[]
  /** null when the rule has no finding. */
  judge(scene: Scene): RuleAnswer | null
}

export interface Scene {
  readonly event: HookEvent
  readonly traits: HookTraits
  /** Up to this event; `judge` also sees the event itself. Ordered as in the ledger, not by time. */
  readonly history: History
  readonly settings: Settings
  readonly facts: Facts
  readonly world: World
  /** Epoch milliseconds. Can go back between events. */
  readonly nowMs: number
}

export interface RuleAnswer {
  /** Blocks the tool call or the change of settings, with this reason. */
  readonly deny?: string
  /** Refuses the stop, with this reason. */
  readonly refuse?: string
  /** Facts for the model. */
  readonly context?: string
  /** For the user. */
  readonly notice?: string
  /** State for later events, appended to the ledger with the decision. */
  readonly remember?: readonly Note[]
}
