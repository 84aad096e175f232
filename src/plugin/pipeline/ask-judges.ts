import { GantryError } from '../../core/error.ts'
import { definedVariables } from '../../core/expand.ts'
import { sha256 } from '../../io/sha256.ts'
import type { PaidSample, SampleCheckpoint } from '../../judge/take-samples.ts'
import type { Model } from '../../models/contract.ts'
import type { Analysis } from '../analyze/contract.ts'
import { isPaid } from '../cases/grade/paid-graders.ts'
import type { StoredPassVote } from '../cases/grade/take-votes.ts'
import { gradeTrial } from '../cases/grade-trial.ts'
import { componentId, componentsById } from '../component-list.ts'
import { note } from '../contract.ts'
import { needsJudge } from '../evaluate/decide-trigger.ts'
import { detectComponents, sentMessages } from '../evaluate/detection/detect-components.ts'
import type { KnownComponents } from '../evaluate/detection/known-components.ts'
import type { UncheckedVote } from '../evaluate/judge/judge-trial.ts'
import { openPluginJudge, type PluginJudge } from '../evaluate/judge/open-plugin-judge.ts'
import type { StoredOptions, StoredTrial } from '../evaluate/stored/evaluate-stored.ts'
import { readTrial } from '../evaluate/stored/read-trial.ts'
import { armsOf } from '../execute/plan-trials.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { hasStageModel, openStageModel, type StageModel, type StageModelOptions } from './stage-model.ts'

/** The judges for trials with ambiguous traces, and the graders of cases. */
export interface Judges extends AsyncDisposable, Required<Pick<StoredOptions, 'judge' | 'grade'>> {
  /** Trials at a time. */
  readonly concurrency: number
}

interface Asked {
  readonly analysis: Analysis
  readonly known: KnownComponents
  readonly trials: readonly StoredTrial[]
}

export async function askJudges(work: EvaluationWork, asked: Asked): Promise<Judges> {
  const { run, context, budget } = work
  const { config } = work.request
  const { analysis, known } = asked
  const wanted = await trialsToJudge(work, asked)
  const withGraders = asked.trials.some(({ scenario }) => scenario.case?.graders.some(isPaid) === true)
  const opened = wanted.size > 0 || withGraders ? await openJudge(work, wanted.size) : null
  const judge = opened === null ? null : await openJudgeOf(work, opened.model, wanted.size)
  const components = componentsById(analysis.components)
  const judgeName = sha256(opened?.model.name ?? '').slice(0, 12)
  let waiting = wanted.size
  return {
    // A batch is answered only after all requests, so no trial may wait for a free slot before.
    concurrency: judge?.isBatched === true ? wanted.size + config.max_concurrent : config.max_concurrent,
    judge: async ({ trial, scenario, execution, transcript }) => {
      if (judge === null || transcript === null || !wanted.has(trial.id)) return null
      const answer = judge.judge({
        pluginName: analysis.plugin_name,
        scenario,
        description:
          components.get(componentId(scenario.component_type, scenario.expected_component))?.component
            .description ?? '',
        detections: detectComponents(execution, transcript, known, sentMessages(scenario)),
        transcript,
        budget,
        checkpoint: keptVotes<UncheckedVote>(run, trial.id, (sample) => `judge-${judgeName}-${sample}`),
      })
      waiting -= 1
      if (waiting === 0) void judge.flush().catch(() => {})
      return answer
    },
    grade: async ({ trial, scenario, execution, transcript }) => {
      if (scenario.case === undefined) return { gates: [], costUsd: 0 }
      const model = opened?.model ?? null
      const { gates, cost_usd, usage } = await gradeTrial(scenario, execution, transcript, {
        arms: armsOf(scenario, config, work.request.target.arms),
        judge: model === null ? null : { model, config, signal: context.signal, budget },
        checkpoint: (grader) => {
          const question = sha256(`${model?.name}\n${grader}`).slice(0, 12)
          return keptVotes<StoredPassVote>(run, trial.id, (sample) => `grader-${question}-${sample}`)
        },
      })
      return { gates, costUsd: cost_usd, ...(usage !== undefined && { usage }) }
    },
    [Symbol.asyncDispose]: async () => {
      await judge?.[Symbol.asyncDispose]()
      await opened?.[Symbol.asyncDispose]()
    },
  }
}

/** The name contains the model, because answers of one model are not reused for another. */
function keptVotes<Vote>(
  run: EvaluationWork['run'],
  trialId: string,
  name: (sample: number) => string,
): SampleCheckpoint<Vote> {
  return {
    load: (sample) => run.checkpointOf(trialId, name(sample)) as PaidSample<Vote> | undefined,
    save: (sample, paid) => run.checkpoint(trialId, name(sample), paid),
  }
}

/** Read once before the first request: whether batches are worth it depends on their number. */
async function trialsToJudge(
  { request }: EvaluationWork,
  { known, trials }: Asked,
): Promise<ReadonlySet<string>> {
  const wanted = new Set<string>()
  for (const stored of trials) {
    const traces = await readTrial(stored)
    if (traces.kind === 'damaged') continue
    const { execution, transcript } = traces
    const { scenario } = stored
    const detections = detectComponents(execution, transcript, known, sentMessages(scenario))
    if (needsJudge({ scenario, execution, transcript, detections, known }, request.config))
      wanted.add(stored.trial.id)
  }
  return wanted
}

/** Throws, before anything is paid for, when trials could not be judged without a model and there is none. */
export async function requireJudge(work: EvaluationWork, scenarios: readonly PluginScenario[]) {
  const { evaluation } = work.request.config
  const judged = scenarios.find((scenario) => scenario.case?.graders.some(isPaid))
  const isLlmOnly = evaluation.detection_mode === 'llm_only'
  if ((!isLlmOnly && judged === undefined) || (await hasStageModel(work, judgeOf(work)))) return
  const why = isLlmOnly ? 'evaluation.detection_mode is llm_only' : `a grader of ${judged?.id} asks a model`
  const instead = isLlmOnly ? 'leave detection to the traces' : 'leave the cases out with --no-cases'
  throw new GantryError('NOT_FOUND', `${why}, and there is no access to a model`, {
    hint: `Set ANTHROPIC_API_KEY, name a judge with --judge-model, or ${instead}.`,
  })
}

function judgeOf({ request }: EvaluationWork): StageModelOptions {
  const { model, api_timeout_ms: timeoutMs } = request.config.evaluation
  return { name: model, cassette: '_judge', timeoutMs }
}

async function openJudge(work: EvaluationWork, ambiguous: number): Promise<StageModel | null> {
  const opened = await openStageModel(work, judgeOf(work))
  if (opened !== null) return opened
  await requireJudge(work, [])
  if (ambiguous > 0)
    note(
      work.context.onStep,
      'warning',
      `${ambiguous === 1 ? 'one trial is' : `${ambiguous} trials are`} ambiguous and there is no access to a judge: the traces decide`,
    )
  return null
}

function openJudgeOf(
  { request, context, files, budget }: EvaluationWork,
  model: Model,
  trials: number,
): Promise<PluginJudge> {
  const { config, replay } = request
  return openPluginJudge({
    model,
    config,
    expectedCalls: trials * config.evaluation.num_samples,
    // With a cassette every answer is a separate call.
    access:
      replay === 'off'
        ? {
            env: definedVariables(context.env),
            base: context.project.root,
            prices: context.project.config.models,
            budget,
          }
        : null,
    journalPath: files.batches,
    signal: context.signal,
    note: (message) => note(context.onStep, 'info', message),
  })
}
