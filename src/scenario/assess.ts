import type { TargetInvocation } from '../analysis/contract.ts'
import {
  type FoundInvocations,
  findInvocations,
  findTranscriptInvocations,
  recordedInvocations,
} from '../analysis/invocations.ts'
import { interactionMetrics } from '../analysis/metrics.ts'
import type { TargetTool } from '../analysis/target.ts'
import { compositeScore, scoreTier } from '../core/score.ts'
import type { GateResult, InteractionMetrics, TrialRecord } from '../core/trial.ts'
import { runGate } from '../gates/index.ts'
import { readHeadAndTail } from '../io/read-head.ts'
import type { AgentStage } from './agent-stage.ts'
import { judgeTrial } from './judge-trial.ts'
import type { Recorder } from './recorder.ts'
import { runEvaluators, type ScriptPlace } from './scripts.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'

export interface Assessment
  extends Pick<TrialRecord, 'metrics' | 'gates' | 'evaluators' | 'judge' | 'score' | 'tier'> {
  /** What is wrong with a gate that could not be checked: the trial is then `invalid`. */
  readonly brokenGate: string | null
  /** Why the judge could not be asked although it should have been: the trial is then `infra`. */
  readonly judgeProblem: { readonly message: string; readonly overBudget: boolean } | null
}

/** In a longer transcript, commands are searched only at its beginning and end. */
const maxTranscriptBytes = 4 * 1024 * 1024

/** Metrics, gates, evaluators, judge, in this order. Every gate runs, whatever the others returned. */
export async function assess(
  work: TrialWork,
  place: TrialPlace,
  scripts: ScriptPlace,
  recorder: Recorder,
  stage: Extract<AgentStage, { kind: 'ran' }>,
): Promise<Assessment> {
  const weights = work.case.scenario.evaluation.composite
  const { metrics, gates, brokenGate, evaluators } = await examine(work, place, scripts, recorder, stage)
  const judged = await judgeTrial(work, place, recorder, stage, gates)
  const judge = judged.kind === 'judged' ? judged.result : null
  const score =
    weights === undefined
      ? null
      : compositeScore(
          {
            judgeScore:
              judge?.weighted_score ?? (work.judge === null || work.case.rubric === null ? null : 0),
            gatesPassed: gates.filter((gate) => gate.passed).length,
            gatesTotal: gates.length,
            firstTrySuccessRate:
              metrics.source === 'none' || metrics.total_commands === 0
                ? null
                : metrics.first_try_success_rate,
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
    brokenGate,
    evaluators,
    judge,
    judgeProblem: judged.kind === 'unavailable' ? judged : null,
    score,
    tier: score === null ? null : scoreTier(score),
  }
}

/** A separate function, so that a trial that waits for its judge does not hold the agent's output in memory. */
async function examine(
  work: TrialWork,
  place: TrialPlace,
  scripts: ScriptPlace,
  recorder: Recorder,
  stage: Extract<AgentStage, { kind: 'ran' }>,
): Promise<Pick<Assessment, 'metrics' | 'gates' | 'brokenGate' | 'evaluators'>> {
  const { evaluation, scripts: authored } = work.case.scenario
  const toolUses = recorder.toolUses()
  const { invocations, source } = await usesOfTarget(work, place, recorder, stage.recordsCalls ?? false)
  const metrics = interactionMetrics(invocations, { completed: hasCompleted(stage), source })
  const gates: GateResult[] = []
  let brokenGate: string | null = null
  for (const [index, spec] of evaluation.gates.entries()) {
    const { result, broken } = await runGate(
      spec,
      {
        workspace: place.fixture,
        env: scripts.env,
        signal: work.signal,
        invocations,
        invocationSource: source,
        toolUses,
        delta: () => Promise.resolve(stage.delta ?? { created: [], changed: [], deleted: [] }),
      },
      work.case.ownGates,
    )
    brokenGate ??= broken
    recorder.emit({ event: 'gate', index, type: result.type, passed: result.passed, message: result.message })
    const { line } = work.case.source.positionOf(['evaluation', 'gates', index])
    gates.push({ ...result, ...(line !== undefined && { line }) })
  }
  const evaluators = await runEvaluators(authored.evaluators, scripts, recorder.emit)
  return { metrics, gates, brokenGate, evaluators }
}

/** For a trial that ended before it could be evaluated. */
export function notAssessed(): Assessment {
  return {
    metrics: interactionMetrics([], { completed: false, source: 'none' }),
    gates: [],
    brokenGate: null,
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
  recordsCalls: boolean,
): Promise<{
  readonly invocations: readonly TargetInvocation[]
  readonly source: InteractionMetrics['source']
}> {
  const toolUses = recorder.toolUses()
  const reported = toolUses.length === 0 ? null : await findInvocations(toolUses, target)
  const isElsewhere = (program: string): boolean =>
    program.includes('/') && !program.startsWith(`${place.bin}/`)
  const recorded = recordedInvocations(
    recorder.targetCalls(),
    target,
    reported?.invocations ?? [],
    isElsewhere,
  )
  if (recorded.length > 0) return { invocations: recorded, source: 'shim' }
  // Calls that the shim did not see: by another path, in a container, or in a sandbox that cannot write the records.
  const found = reported ?? transcriptInvocations(place, recorder, target)
  for (const message of found?.notes ?? []) recorder.emit({ event: 'note', level: 'warning', message })
  const invocations = found?.invocations ?? []
  if (reported !== null) return { invocations, source: 'events' }
  if (invocations.length > 0) return { invocations, source: 'transcript' }
  return { invocations, source: recordsCalls ? 'shim' : 'none' }
}

function transcriptInvocations(
  place: TrialPlace,
  recorder: Recorder,
  target: TargetTool,
): FoundInvocations | null {
  if (!recorder.hasTranscript()) return null
  return findTranscriptInvocations(readHeadAndTail(place.transcript, maxTranscriptBytes), target)
}

function hasCompleted({ outcome }: Extract<AgentStage, { kind: 'ran' }>): boolean {
  return outcome.ending === 'exited' && outcome.exitCode === 0
}
