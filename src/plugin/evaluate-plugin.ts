import { join, resolve } from 'node:path'
import { z } from 'zod'
import { loadProject } from '../config/load.ts'
import { openProjectStore } from '../config/open-project-store.ts'
import { defined, isObject } from '../core/json-fields.ts'
import { callback, checkOptions, namedOrOwn, optionFields } from '../io/check-options.ts'
import { replayModes } from '../models/boundary/model-link.ts'
import type { Reporter } from '../report/contract.ts'
import type { ReporterDefinition } from '../report/define-reporter.ts'
import { openReportersOf, type ReporterProblem } from '../report/open-reporters.ts'
import type { PluginConfig } from './config/keys/schema.ts'
import { loadConfigWithOverrides } from './config/load-config.ts'
import type { PluginOverrides } from './config/overrides.ts'
import { note, type PluginStep, stages } from './contract.ts'
import { evaluationTargets } from './pipeline/evaluation-target.ts'
import type { EvaluationContext, EvaluationRequest } from './pipeline/evaluation-work.ts'
import { type OpenEvaluation, openEvaluation } from './pipeline/open-evaluation.ts'
import { resumeEvaluation, withChanges } from './pipeline/resume-evaluation.ts'
import { type EvaluationEnd, runStages } from './pipeline/run-stages.ts'

const optionsSchema = z.strictObject({
  cwd: z.string(),
  /** What the command line could say; `plugin` is the directory of the plugin. */
  overrides: z.custom<PluginOverrides>(isObject, 'expected an object').optional(),
  /** Continues a run with its stored request. Of `overrides` only batch, maxCostUsd, judgeModel and samples count then. */
  resume: z
    .strictObject({
      /** A run id, the beginning of one, or `latest`. */
      run: z.string(),
      /** The first stage to repeat. Default: the stage after the last completed one. */
      fromStage: z.enum(stages).exactOptional(),
    })
    .optional(),
  /** Only scenarios whose names match, as in `--filter`. */
  filters: z.array(z.string()).readonly().optional(),
  /** Lets cases of the plugin run their own set-up commands, as `--scaffold` does. */
  scaffold: z.boolean().optional(),
  /** Pass rate every scenario must reach. Default: 1. */
  threshold: z.number().min(0).max(1).optional(),
  /** A file with the configuration; default: `plugin:` of the gantry.yaml found upward. */
  configFile: z.string().optional(),
  /** The last stage to be done. Default: all of them. */
  until: z.enum(stages).optional(),
  replay: z.enum(replayModes).optional(),
  /** Default: evals/cassettes of the plugin. */
  cassettes: z.string().optional(),
  /** Default: that of this process. */
  env: optionFields.env,
  signal: optionFields.signal,
  /** Names as in `--reporter`, reporters of your own, or functions that listen. Default: none. */
  reporters: namedOrOwn<ReporterDefinition | Reporter>().optional(),
  onStep: callback<(step: PluginStep) => void>(),
})

export type PluginEvaluationOptions = Readonly<z.output<typeof optionsSchema>>

export interface PluginEvaluation extends EvaluationEnd {
  /** Reporters that failed. They stop neither the run nor each other. */
  readonly reporterProblems: readonly ReporterProblem[]
}

/** `gantry plugin run` and `gantry plugin resume` as a function: one end for every plugin that is evaluated. */
export async function evaluatePlugin(options: PluginEvaluationOptions): Promise<readonly PluginEvaluation[]> {
  checkOptions('evaluatePlugin', optionsSchema, options)
  const { cwd, env = process.env, overrides = {} } = options
  const project = loadProject(cwd)
  const context: EvaluationContext = {
    store: openProjectStore({ env, cwd }),
    project,
    cwd,
    env,
    signal: options.signal ?? new AbortController().signal,
    argv: [],
    onStep: options.onStep ?? (() => {}),
  }
  if (options.resume !== undefined) {
    const change = (config: PluginConfig): PluginConfig => withChanges(config, overrides)
    const until = options.until === undefined ? {} : { until: options.until }
    return [await finish(await resumeEvaluation({ ...options.resume, ...until, change }, context), options)]
  }
  const { config, warnings } = loadConfigWithOverrides(
    defined({ project, env, flags: overrides, cwd, file: options.configFile }),
  )
  for (const message of warnings) note(context.onStep, 'warning', message)
  const ends: PluginEvaluation[] = []
  for (const target of await evaluationTargets(config, cwd)) {
    const request: EvaluationRequest = {
      config,
      target,
      until: options.until ?? 'evaluation',
      replay: options.replay ?? 'off',
      cassettes: resolve(cwd, options.cassettes ?? join(target.path, 'evals', 'cassettes')),
      allowScaffold: options.scaffold ?? false,
      filters: options.filters ?? [],
    }
    ends.push(await finish(await openEvaluation(request, context), options))
  }
  return ends
}

/** Every plugin has reporters of its own, because each report is about one run. */
async function finish(opened: OpenEvaluation, options: PluginEvaluationOptions): Promise<PluginEvaluation> {
  await using work = opened
  const { cwd, env = process.env, reporters = [], threshold } = options
  const reporter = await openReportersOf(reporters, { env, cwd })
  const end = await runStages(work, reporter, threshold === undefined ? {} : { threshold })
  return { ...end, reporterProblems: reporter.problems() }
}
