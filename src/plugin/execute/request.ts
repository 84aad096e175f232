import type { ResolvedAgent } from '../../config/resolve-agent.ts'
import type { Redaction } from '../../core/redaction.ts'
import type { AgentLink } from '../../model-link/run-linked-agent.ts'
import type { Budget } from '../../models/budget.ts'
import type { PriceTable } from '../../models/pricing.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import type { Analysis, PluginLoad } from '../analyze/contract.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { PluginStep } from '../contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { Execution, PluginTranscript, PluginTrial } from './contract.ts'

/** What the processes of an execution have in common. */
export interface ExecuteContext {
  /** Settled: paths are absolute, the model is one that Claude Code takes. */
  readonly config: PluginConfig
  readonly plugin: Pick<Analysis, 'plugin_name' | 'plugin_path' | 'components'>
  /** Directories of the other plugins, absolute. */
  readonly crowd: readonly string[]
  readonly agent: ResolvedAgent
  /** null: the agent speaks to its provider by itself. */
  readonly modelLink: Omit<AgentLink, 'cassette'> | null
  readonly prices: PriceTable
  readonly redaction: Redaction
  /** The caller's environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Stands in the environment of every process. */
  readonly runId?: string
  /** Absolute: HOME, TMPDIR and workspace of every process are made in it, and removed unless `debug` is set. */
  readonly workDir: string
  readonly signal: AbortSignal
}

export interface ExecuteRequest extends ExecuteContext {
  readonly scenarios: readonly PluginScenario[]
  readonly trials: readonly PluginTrial[]
  /** Ids of trials that are kept already: they are not made again. */
  readonly done: ReadonlySet<string>
  /** Absolute. */
  readonly cassettes: string
  /** Of the whole run. */
  readonly budget: Budget
  /** Hides more than secrets, where the configuration asks for it. Changes texts and nothing of the shape. */
  readonly sanitize?: (value: unknown) => unknown
  /** Whether scaffold scripts of cases may run: they are programs of the plugin's author. */
  readonly allowScaffold: boolean
  /** How long one trial may wait in all for a limit of its provider to pass. Default 15 minutes. */
  readonly maxPauseMs?: number
  /** What the CLI said it loaded, when it was asked before; else it is asked. */
  readonly load?: PluginLoad
  /** A fresh log for a try at a trial: an earlier try's is gone. */
  openEventLog(trialId: string): EventRecorder
  /** A trial that was made. When it returns it must survive the end of the process: it is never made again. */
  keep(execution: Execution, transcript: PluginTranscript): void | Promise<void>
  onStep(step: PluginStep): void
}

export interface ExecutionReport {
  /** Trials that were kept by this call. */
  readonly executed: number
  readonly infra: number
  readonly invalid: number
  readonly processes: number
  readonly duration_ms: number
  /** Of the trials that were kept and of those that had to be given up; null = unmetered. */
  readonly cost_usd: number | null
  /** Paid for tries that are in no kept trial: cut off by the budget or by an interruption. */
  readonly lost_cost_usd: number
  /** null when no arm has the plugin. */
  readonly load: PluginLoad | null
  /** Trials that cannot be made as things are, each with the reason. */
  readonly dropped: readonly { readonly trial: string; readonly reason: string }[]
  /** Trials that are still to be made, and why they were not. */
  readonly not_run: readonly string[]
  readonly stopped: 'budget' | 'interrupted' | null
  /** Scenarios whose cassettes no longer fit. */
  readonly needs_recording: readonly string[]
}
