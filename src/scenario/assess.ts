import type { TargetInvocation } from '../analysis/contract.ts'
import { findInvocations } from '../analysis/invocations.ts'
import { interactionMetrics } from '../analysis/metrics.ts'
import { findTranscriptInvocations } from '../analysis/transcript-invocations.ts'
import { compositeScore, scoreTier } from '../core/score.ts'
import type {
  EvaluatorResult,
  GateResult,
  InteractionMetrics,
  JudgeResult,
  ScoreTier,
} from '../core/trial.ts'
import { runGate } from '../gates/index.ts'
import { readHeadAndTail } from '../io/read-head.ts'
import type { AgentStage } from './agent-stage.ts'
import { judgeTrial } from './judge-trial.ts'
import type { Recorder } from './recorder.ts'
import { runEvaluators, type ScriptPlace } from './scripts.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'

/** Everything that was found out about a trial after the agent was gone. */
export interface Assessment {
  readonly metrics: InteractionMetrics
  readonly gates: readonly GateResult[]
  readonly evaluators: readonly EvaluatorResult[]
  readonly judge: JudgeResult | null
  /** Why the judge could not speak although it should have: the trial is then `infra`. */
  readonly judgeProblem: { readonly message: string; readonly overBudget: boolean } | null
  readonly score: number | null
  readonly tier: ScoreTier | null
}

/** A transcript longer than this is searched for commands at its beginning and its end only. */
const maxTranscriptBytes = 4 * 1024 * 1024

/** Metrics, gates, evaluators, judge, in this order; every gate runs whatever the others said. */
export async function assess(
  work: TrialWork,
  place: TrialPlace,
  scripts: ScriptPlace,
  recorder: Recorder,
  stage: Extract<AgentStage, { kind: 'ran' }>,
): Promise<Assessment> {
  const weights = work.case.scenario.evaluation.composite
  const { metrics, gates, evaluators } = await examine(work, place, scripts, recorder, stage)
  const judged = await judgeTrial(work, place, recorder, stage, gates)
  const judge = judged.kind === 'judged' ? judged.result : null
  const score =
    weights === undefined
      ? null
      : compositeScore(
          {
            judgeScore: judge?.weighted_score ?? null,
            gatesPassed: gates.filter((gate) => gate.passed).length,
            gatesTotal: gates.length,
            firstTrySuccessRate: metrics.first_try_success_rate,
          },
          {
            judge: weights.judge_weight,
            gates: weights.gate_weight,
            interaction: weights.interaction_weight,
          },
        )
  return {
    metrics,
    gates,
    evaluators,
    judge,
    judgeProblem: judged.kind === 'unavailable' ? judged : null,
    score,
    tier: score === null ? null : scoreTier(score),
  }
}

/** Apart, so that a trial that waits for its judge holds nothing of what its agent printed. */
async function examine(
  work: TrialWork,
  place: TrialPlace,
  scripts: ScriptPlace,
  recorder: Recorder,
  stage: Extract<AgentStage, { kind: 'ran' }>,
): Promise<Pick<Assessment, 'metrics' | 'gates' | 'evaluators'>> {
  const { evaluation, scripts: authored } = work.case.scenario
  const toolUses = recorder.toolUses()
  const { invocations, source } = await usesOfTarget(work, place, recorder)
  const metrics = interactionMetrics(invocations, { completed: hasCompleted(stage), source })
  const gates: GateResult[] = []
  for (const [index, spec] of evaluation.gates.entries()) {
    const result = await runGate(spec, {
      workspace: place.fixture,
      env: scripts.env,
      signal: work.signal,
      invocations,
      toolUses,
      delta: () => Promise.resolve(stage.delta ?? { created: [], changed: [], deleted: [] }),
    })
    recorder.emit({ event: 'gate', index, type: result.type, passed: result.passed, message: result.message })
    gates.push(result)
  }
  const evaluators = await runEvaluators(authored.evaluators, scripts, recorder.emit)
  return { metrics, gates, evaluators }
}

/** Of a trial that ended before anything could be found out. */
export function notAssessed(): Assessment {
  return {
    metrics: interactionMetrics([], { completed: false, source: 'none' }),
    gates: [],
    evaluators: [],
    judge: null,
    judgeProblem: null,
    score: null,
    tier: null,
  }
}

async function usesOfTarget(
  { case: { target } }: TrialWork,
  place: TrialPlace,
  recorder: Recorder,
): Promise<{
  readonly invocations: readonly TargetInvocation[]
  readonly source: InteractionMetrics['source']
}> {
  const toolUses = recorder.toolUses()
  if (toolUses.length === 0 && !recorder.hasTranscript()) return { invocations: [], source: 'none' }
  const found =
    toolUses.length > 0
      ? await findInvocations(toolUses, target)
      : findTranscriptInvocations(readHeadAndTail(place.transcript, maxTranscriptBytes), target)
  for (const message of found.notes) recorder.emit({ event: 'note', level: 'warning', message })
  if (toolUses.length > 0) return { invocations: found.invocations, source: 'events' }
  return { invocations: found.invocations, source: found.invocations.length > 0 ? 'transcript' : 'none' }
}

function hasCompleted({ outcome }: Extract<AgentStage, { kind: 'ran' }>): boolean {
  return outcome.ending === 'exited' && outcome.exitCode === 0
}
