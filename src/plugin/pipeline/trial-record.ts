import { z } from 'zod'
import { interactionMetrics } from '../../analysis/metrics.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { modifiedAtMs } from '../../io/directory.ts'
import { readJsonIfExists } from '../../io/files.ts'
import type { TrialEvaluation } from '../evaluate/contract.ts'
import type { Execution } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { EvaluationFiles } from './evaluation-files.ts'

const metadataSchema = z.object({
  agent: z.string(),
  agent_version: z.string().nullable(),
  duration_ms: z.number(),
  not_run_why: z.array(z.string()).default([]),
})

/** The metadata of stage 3. A run made by another tool may have none. */
export function executionFacts(files: EvaluationFiles) {
  const read = metadataSchema.safeParse(readJsonIfExists(files.executionMetadata))
  const { agent, agent_version, duration_ms, not_run_why } = read.success
    ? read.data
    : { agent: 'claude-code', agent_version: null, duration_ms: 0, not_run_why: [] }
  return {
    agent,
    agentVersion: agent_version,
    durationMs: Math.round(duration_ms),
    notRunWhy: not_run_why,
    /** When a trial started; null when unknown. */
    startedAt: ({ trial, duration_ms: took }: Execution): string | null => {
      const madeMs = modifiedAtMs(files.execution(trial.id))
      return madeMs === null ? null : new Date(madeMs - took).toISOString()
    },
  }
}

export interface RecordFacts extends Pick<TrialRecord, 'agent' | 'model' | 'dir' | 'startedAt'> {
  /** Where the component is described, relative to the plugin. */
  readonly file: string
  readonly line: number
  /** Whether to show the arm: only when there are several. */
  readonly showArm: boolean
}

/**
 * A trial in the format that all faces share: for reporters, lists, the index and the log of results. `execution` is null when
 * it cannot be read.
 */
export function trialRecord(
  evaluation: TrialEvaluation,
  execution: Execution | null,
  scenario: PluginScenario,
  facts: RecordFacts,
): TrialRecord {
  const { trial } = evaluation
  const costs = [evaluation.cost_usd, evaluation.evaluation_cost_usd]
  return {
    id: trial.id,
    case: scenario.id,
    file: scenario.case?.dir ?? facts.file,
    agent: facts.showArm ? `${facts.agent}, ${trial.arm}` : facts.agent,
    model: facts.model,
    attempt: trial.rep,
    prompt: scenario.user_prompt,
    verdict: evaluation.verdict,
    ...(evaluation.untried === true && { untried: true }),
    reason: evaluation.reason,
    gates: evaluation.gates.map((gate) =>
      scenario.case === undefined ? { line: facts.line, ...gate } : gate,
    ),
    // Plugin trials do not measure commands of a tool.
    metrics: interactionMetrics([], { completed: execution?.termination_type === 'clean', source: 'none' }),
    judge: null,
    evaluators: [],
    score: evaluation.grader_score ?? judgedScore(evaluation),
    tier: null,
    costUsd: evaluation.cost_usd === null ? null : costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    tokens: evaluation.tokens,
    ...(execution !== null && execution.model_usage.length > 0 && { usage: execution.model_usage }),
    durationMs: evaluation.duration_ms,
    ending: execution?.ending ?? 'not_started',
    agentExitCode: null,
    ...(execution?.failure !== undefined && { failure: execution.failure.reason }),
    dir: facts.dir,
    tags: [scenario.component_type, scenario.scenario_type, ...(scenario.tags ?? [])],
    infraRetries: execution?.infra_retries ?? 0,
    cachedFrom: null,
    cacheKey: null,
    startedAt: facts.startedAt,
    warnings: execution?.warnings ?? [],
  }
}

/** null without a judge's score. */
function judgedScore({ judgement }: TrialEvaluation): number | null {
  return judgement === null || judgement.quality_score === null ? null : judgement.quality_score / 10
}
