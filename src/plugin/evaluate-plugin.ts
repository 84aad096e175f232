import { join, resolve } from 'node:path'
import { loadProject } from '../config/load.ts'
import { openProjectStore } from '../config/open-project-store.ts'
import type { ReplayMode } from '../models/boundary/model-link.ts'
import type { Reporter } from '../report/contract.ts'
import type { Store } from '../store/contract.ts'
import { loadConfigWithOverrides } from './config/load-config.ts'
import type { PluginOverrides } from './config/overrides.ts'
import type { PluginStage, PluginStep } from './contract.ts'
import { evaluationTargets } from './pipeline/evaluation-target.ts'
import type { EvaluationContext, EvaluationRequest } from './pipeline/evaluation-work.ts'
import { openEvaluation } from './pipeline/open-evaluation.ts'
import { type EvaluationEnd, runStages } from './pipeline/run-stages.ts'

export interface PluginEvaluationOptions {
  readonly cwd: string
  /** What the command line could say; `plugin` is the directory of the plugin. */
  readonly overrides: PluginOverrides
  /** A file with the configuration; default: `plugin:` of the gantry.yaml found upward. */
  readonly configFile?: string
  /** The last stage to be done. Default: all of them. */
  readonly until?: PluginStage
  readonly replay?: ReplayMode
  /** Default: evals/cassettes of the plugin. */
  readonly cassettes?: string
  /** Default: the one of the environment. */
  readonly store?: Store
  /** Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal
  readonly reporter?: Reporter
  readonly onStep?: (step: PluginStep) => void
}

/** `gantry plugin run` as a function: one end for every plugin that is evaluated. */
export async function evaluatePlugin(options: PluginEvaluationOptions): Promise<readonly EvaluationEnd[]> {
  const { cwd, env = process.env, until = 'evaluation', reporter = {} } = options
  const project = loadProject(cwd)
  const { config } = loadConfigWithOverrides({
    project,
    env,
    flags: options.overrides,
    cwd,
    ...(options.configFile !== undefined && { file: options.configFile }),
  })
  const context: EvaluationContext = {
    store: options.store ?? openProjectStore({ env, cwd }),
    project,
    cwd,
    env,
    signal: options.signal ?? new AbortController().signal,
    argv: [],
    onStep: options.onStep ?? (() => {}),
  }
  const ends: EvaluationEnd[] = []
  for (const target of await evaluationTargets(config, cwd)) {
    const request: EvaluationRequest = {
      config,
      target,
      until,
      replay: options.replay ?? 'off',
      cassettes: resolve(cwd, options.cassettes ?? join(target.path, 'evals', 'cassettes')),
      allowScaffold: false,
      filters: [],
    }
    await using work = await openEvaluation(request, context)
    ends.push(await runStages(work, reporter, {}))
  }
  return ends
}
