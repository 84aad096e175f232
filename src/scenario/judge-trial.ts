import type { AgentOutcome } from '../agents/contract.ts'
import type { GateResult, JudgeResult } from '../core/trial.ts'
import type { WorkspaceDelta } from '../gates/contract.ts'
import { readHeadAndTail } from '../io/read-head.ts'
import { readTextInside } from '../io/read-text-inside.ts'
import type { ScoredSample } from '../judge/answer.ts'
import { judge } from '../judge/judge.ts'
import type { ChangedFile, JudgeContext } from '../judge/prompt.ts'
import type { PaidSample } from '../judge/take-samples.ts'
import { agentCostUsd } from '../model-link/agent-cost.ts'
import type { AgentStage } from './agent-stage.ts'
import { isPairwise } from './case.ts'
import type { Recorder } from './recorder.ts'
import type { TrialPlace, TrialWork } from './trial-work.ts'

export type TrialJudgement =
  | { readonly kind: 'not_asked' }
  | { readonly kind: 'judged'; readonly result: JudgeResult }
  | { readonly kind: 'unavailable'; readonly message: string; readonly overBudget: boolean }

const maxTranscriptBytes = 64 * 1024
const maxFileBytes = 64 * 1024

/** The judge is called when the scenario has one and every gate passed; with `always` in any case. */
export async function judgeTrial(
  work: TrialWork,
  place: TrialPlace,
  recorder: Recorder,
  { outcome, delta }: Extract<AgentStage, { kind: 'ran' }>,
  gates: readonly GateResult[],
): Promise<TrialJudgement> {
  const { rubric, scenario } = work.case
  const settings = scenario.evaluation.judge
  if (rubric === null || settings === undefined || isPairwise(work.case)) return { kind: 'not_asked' }
  const threshold = settings.pass_threshold ?? 1
  const answer = work.earlier?.judge
  if (answer != null)
    return { kind: 'judged', result: { ...answer, threshold, passed: answer.weighted_score >= threshold } }
  if (answer === null || work.judge === null) return { kind: 'not_asked' }
  if (!settings.always && gates.some((gate) => !gate.passed)) return { kind: 'not_asked' }
  const { model } = work.judge
  const context = questionOf(work, () => contextOf(work, place, outcome, delta, gates))
  const facts = { model: work.planned.model, prices: work.prices }
  const budget = work.judge.budget(agentCostUsd(facts, outcome, recorder.usage()))
  // The answer may take a day, and thousands of trials may be waiting.
  recorder.rest()
  const judgement = await judge({
    model,
    rubric: rubric.value,
    threshold,
    samples: settings.samples,
    aggregate: settings.aggregate,
    signal: work.signal,
    ...(budget !== null && { budget }),
    context,
    checkpoint: {
      load: (sample) => work.checkpoints.read(checkpointName(sample)) as PaidSample<ScoredSample> | undefined,
      save: (sample, paid) => work.checkpoints.write(checkpointName(sample), work.redaction.value(paid)),
    },
    onSample: (sample, result) =>
      recorder.emit({
        event: 'judge',
        sample: sample + 1,
        model: model.name,
        ...(result.kind === 'scored' ? { weighted_score: result.weighted_score } : { error: result.message }),
      }),
  })
  if (judgement.kind === 'judged') return judgement
  return { kind: 'unavailable', message: judgement.message, overBudget: judgement.reason === 'over_budget' }
}

/** Stored, so that the question is the same after a crash, even if gates or scripts return something else. */
function questionOf(
  { judge: asked, checkpoints, redaction }: TrialWork,
  make: () => JudgeContext,
): JudgeContext {
  if (asked?.keepsQuestion !== true) return make()
  const kept = checkpoints.read('judge-question')
  if (kept !== undefined) return kept as JudgeContext
  const made = redaction.value(make()) as JudgeContext
  checkpoints.write('judge-question', made)
  return made
}

export function contextOf(
  work: Pick<TrialWork, 'case' | 'redaction'>,
  place: Pick<TrialPlace, 'transcript' | 'fixture'>,
  outcome: Pick<AgentOutcome, 'finalText'>,
  delta: WorkspaceDelta | null,
  gates: readonly GateResult[],
): JudgeContext {
  return {
    taskPrompt: work.redaction.text(work.case.scenario.task.prompt),
    gates: gates.map(({ type, passed, message }) => ({
      type,
      passed,
      message: work.redaction.text(message),
    })),
    finalMessage: outcome.finalText === null ? null : work.redaction.text(outcome.finalText),
    transcript: readHeadAndTail(place.transcript, maxTranscriptBytes),
    files: delta === null ? [] : changedFiles(delta, place, work),
  }
}

function checkpointName(sample: number): string {
  return `judge-${sample + 1}`
}

function changedFiles(
  delta: WorkspaceDelta,
  place: Pick<TrialPlace, 'fixture'>,
  { redaction }: Pick<TrialWork, 'redaction'>,
): ChangedFile[] {
  const withContent = (path: string): string | null => {
    const read = readTextInside(place.fixture, path, { maxBytes: maxFileBytes })
    return read.kind === 'text' && !read.text.includes('\0') ? redaction.text(read.text) : null
  }
  return [
    ...delta.created.map((path) => ({ path, change: 'created' as const, content: withContent(path) })),
    ...delta.changed.map((path) => ({ path, change: 'changed' as const, content: withContent(path) })),
    ...delta.deleted.map((path) => ({ path, change: 'deleted' as const, content: null })),
  ]
}
