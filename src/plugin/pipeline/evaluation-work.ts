import type { Project } from '../../config/load.ts'
import type { Redaction } from '../../core/redaction.ts'
import type { Boundary } from '../../models/boundary/contract.ts'
import type { ReplayMode } from '../../models/boundary/model-link.ts'
import type { Budget } from '../../models/budget.ts'
import type { LiveRun, Store } from '../../store/contract.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { PluginStage, PluginStep } from '../contract.ts'
import type { EvaluationState } from '../state/evaluation-state.ts'
import type { EvaluationFiles } from './evaluation-files.ts'
import type { EvaluationTarget } from './evaluation-target.ts'

export interface EvaluationContext {
  readonly store: Store
  readonly project: Project
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** The command line, for the manifest. */
  readonly argv: readonly string[]
  readonly onStep: (step: PluginStep) => void
}

export interface EvaluationRequest {
  /** Paths in it are absolute. */
  readonly config: PluginConfig
  readonly target: EvaluationTarget
  /** The last stage to run. */
  readonly until: PluginStage
  readonly replay: ReplayMode
  /** Absolute. */
  readonly cassettes: string
  /** Scaffold scripts are programs of the plugin's author, so they run only when the user allows it. */
  readonly allowScaffold: boolean
  /** Only scenarios with one of these in their id. Empty: all. */
  readonly filters: readonly string[]
}

/** A running evaluation and its run directory. The four stages use it one after the other, and each continues where it stopped. */
export interface EvaluationWork {
  readonly request: EvaluationRequest
  readonly context: EvaluationContext
  readonly run: LiveRun
  readonly files: EvaluationFiles
  /** Budget of the whole run; includes what earlier processes spent. */
  readonly budget: Budget
  readonly redaction: Redaction
  /** One for the whole run, opened when first needed. */
  boundary(): Promise<Boundary>
  state(): EvaluationState
  /** On disk when it returns. */
  advance(change: (state: EvaluationState, now: Date) => EvaluationState): void
}
