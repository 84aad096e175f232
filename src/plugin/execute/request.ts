import type { ResolvedAgent } from '../../config/resolve-agent.ts'
import type { Redaction } from '../../core/redaction.ts'
import type { AgentLink } from '../../model-link/run-linked-agent.ts'
import type { Budget } from '../../models/budget.ts'
import type { PriceTable } from '../../models/price-table.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import type { AsideReason } from '../../trials/contract.ts'
import type { Analysis, PluginLoad } from '../analyze/contract.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { Arm, PluginStep } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { Execution, PluginTranscript, PluginTrial } from './contract.ts'

/** Shared by all processes of an execution. */
export interface ExecuteContext {
  /** Resolved: paths are absolute, and the model is one that Claude Code accepts. */
  readonly config: PluginConfig
  readonly plugin: Pick<Analysis, 'plugin_name' | 'plugin_path' | 'components'>
  /** Directories of the other plugins, absolute. */
  readonly crowd: readonly string[]
  readonly agent: ResolvedAgent
  /** null: the agent calls its provider directly. */
  readonly modelLink: Omit<AgentLink, 'cassette'> | null
  readonly prices: PriceTable
  readonly redaction: Redaction
  /** The caller's environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Set in the environment of every process. */
  readonly runId?: string
  /** Absolute. HOME, TMPDIR and workspace of every process are created in it, and removed unless `debug` is set. */
  readonly workDir: string
  readonly signal: AbortSignal
}

export interface ExecuteRequest extends ExecuteContext {
  readonly scenarios: readonly PluginScenario[]
  readonly trials: readonly PluginTrial[]
  /** Ids of stored trials; they are not run again. */
  readonly done: ReadonlySet<string>
  /** Absolute. */
  readonly cassettes: string
  /** Of the whole run. */
  readonly budget: Budget
  /** Redacts more than secrets, if configured. Changes only texts. */
  readonly sanitize?: (value: unknown) => unknown
  /** Whether scaffold scripts of cases may run. They are programs of the plugin's author. */
  readonly allowScaffold: boolean
  /** How long one trial may wait in total for a provider limit. Default 15 minutes. */
  readonly maxPauseMs?: number
  /** What a trial of each arm cost before; null when that is not known. */
  readonly earlierUsd?: (arm: Arm) => number | null
  /** What the CLI loaded, if it was checked before; else it is checked. */
  readonly load?: PluginLoad
  /** A new log for an attempt at a trial; replaces the log of an earlier attempt. */
  openEventLog(trialId: string): EventRecorder
  /** Stores a finished trial. It must be on disk when this returns, because the trial never runs again. */
  keep(execution: Execution, transcript: PluginTranscript): void | Promise<void>
  /** Keeps the files and the cost of an attempt whose result is not stored. */
  putAside(attempt: { readonly id: string; readonly costUsd: number | null }, why: AsideReason): void
  onStep(step: PluginStep): void
}
