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

/** What the caller lends an evaluation. */
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

/** What is asked for. */
export interface EvaluationRequest {
  /** Paths in it are absolute. */
  readonly config: PluginConfig
  readonly target: EvaluationTarget
  /** The last stage to be done. */
  readonly until: PluginStage
  readonly replay: ReplayMode
  /** Absolute. */
  readonly cassettes: string
  /** Scaffold scripts of cases are programs of the plugin's author: they run only when somebody allowed it. */
  readonly allowScaffold: boolean
  /** Only scenarios with one of these in their id. Empty: all. */
  readonly filters: readonly string[]
}

/** One evaluation under way, in its run directory. The four stages take it in turn; each goes on where it was left. */
export interface EvaluationWork {
  readonly request: EvaluationRequest
  readonly context: EvaluationContext
  readonly run: LiveRun
  readonly files: EvaluationFiles
  /** Of the whole run, with what earlier processes spent already in it. */
  readonly budget: Budget
  readonly redaction: Redaction
  /** One for the whole run, opened by whoever needs it first. */
  boundary(): Promise<Boundary>
  state(): EvaluationState
  /** On disk when it returns. */
  advance(change: (state: EvaluationState, now: Date) => EvaluationState): void
}
