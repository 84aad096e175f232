import type { AgentEvent, Untimed } from '../../core/event.ts'
import { definitionProblem } from '../../io/import-module.ts'

/** A user-defined agent that runs in the process of Gantry. */
export interface AgentDefinition {
  /** Shown as the agent of the session. */
  readonly name: string
  readonly version?: string
  /**
   * Works on the prompt in the workspace. Returns when the work is done, optionally with its final text. When it throws, the
   * agent has crashed: the gates still decide. It must stop when `signal` is aborted: Gantry cannot stop code in its process.
   */
  run(request: AgentWork): Promise<AgentResult> | AgentResult
}

export interface AgentWork {
  readonly prompt: string
  /** Absolute. The directory to work in. */
  readonly workspace: string
  /** `default` leaves the choice to the agent. */
  readonly model: string
  /** The environment for programs that the agent starts: HOME, TMPDIR and PATH of the trial. With a model boundary it contains its address. */
  readonly env: Readonly<Record<string, string>>
  readonly maxTurns?: number
  /** Gantry stops the agent when its reported usage exceeds this. */
  readonly maxCostUsd?: number
  /** Aborted at the time limit, at a limit of cost or turns, and when the run is cancelled. */
  readonly signal: AbortSignal
  /** Reports what the agent does. Gates, metrics and cost see nothing else. */
  readonly emit: (event: ReportedEvent) => void
}

/** What an agent may report. Gantry adds the start, the end and the times. */
export type ReportedEvent = Exclude<
  Untimed<AgentEvent>,
  { readonly event: 'spawn' } | { readonly event: 'complete' } | { readonly event: 'raw' }
>

// biome-ignore lint/suspicious/noConfusingVoidType: a run that returns nothing is the usual one.
export type AgentResult = string | { readonly text?: string; readonly exitCode?: number } | void

/** Returns its argument; exists for the types. */
export function defineAgent(agent: AgentDefinition): AgentDefinition {
  return agent
}

/** The user's definition, or a text that says what is wrong with it. */
export function readAgentDefinition(value: unknown): AgentDefinition | string {
  return definitionProblem(value, definitionKeys, ['name', 'run']) ?? (value as AgentDefinition)
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const definitionKeys = { name: isText, version: isText, run: (value: unknown) => typeof value === 'function' }
