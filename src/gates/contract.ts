import type { z } from 'zod'
import type { TargetInvocation, ToolUse } from '../analysis/contract.ts'
import type { GateResult, InteractionMetrics } from '../core/trial.ts'

/**
 * One deterministic check of a trial. A member of the family is a schema (the keys a user writes, snake_case,
 * `type` as discriminator) and a check. A check never throws for the content of a workspace: a missing file, a
 * command that cannot be started and output that is not JSON are failures with a message.
 */
export interface Gate<Spec extends { readonly type: string } = { readonly type: string }> {
  readonly type: Spec['type']
  readonly schema: z.ZodType<Spec>
  /** What it needs besides the final workspace. */
  readonly needs?: readonly GateNeed[]
  /** Set when its messages already contain the description of the spec. */
  readonly describesItself?: true
  /** Commands that usually start a script of the case's template, so a missing script is found before the run. */
  scripts?(spec: Spec): readonly string[]
  check(spec: Spec, context: GateContext): Promise<GateFinding>
}

/**
 * `agent_events`: what the agent did, which a solution script does not show. `workspace_delta`: the workspace as it was before the
 * agent started.
 */
export type GateNeed = 'agent_events' | 'workspace_delta'

export interface GateFinding {
  readonly passed: boolean
  readonly message: string
  readonly detail?: GateResult['detail']
}

/** Everything a gate may use. Paths in a scenario are relative to `workspace` and never lead out of it. */
export interface GateContext {
  /** Absolute. */
  readonly workspace: string
  /** Complete environment for commands and scripts: `target.env` over the `LLM_TOOL_TEST_*` and `GANTRY_*` variables. */
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Invocations of the target tool, in order. */
  readonly invocations: readonly TargetInvocation[]
  /** How they are known: recorded, reported by the agent, or guessed from its output. */
  readonly invocationSource: InteractionMetrics['source']
  /** Every tool the agent used, in order. */
  readonly toolUses: readonly ToolUse[]
  /** What the agent created, changed and deleted, without the changes of the set-up. */
  readonly delta: () => Promise<WorkspaceDelta>
}

/** Paths relative to the workspace, with `/`, sorted. */
export interface WorkspaceDelta {
  readonly created: readonly string[]
  readonly changed: readonly string[]
  readonly deleted: readonly string[]
}
