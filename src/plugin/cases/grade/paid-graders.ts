import { noTokens } from '../../../core/trial.ts'
import type { SampleCheckpoint } from '../../../judge/take-samples.ts'
import type { Grader } from '../../generate/contract.ts'
import { usableCaseText } from '../read-case-text.ts'
import {
  type StoredPassVote,
  takeVotes,
  type VoteOptions,
  type VoteQuestion,
  type Votes,
} from './take-votes.ts'
import { type GradedTrial, targetText, traceLines } from './target-text.ts'

export type PaidGrader = Extract<Grader, { type: 'llm' | 'baseline' }>

export function isPaid(grader: Grader): grader is PaidGrader {
  return grader.type === 'llm' || grader.type === 'baseline'
}

export async function gradeForMoney(
  grader: PaidGrader,
  trial: GradedTrial,
  options: VoteOptions,
  checkpoint: SampleCheckpoint<StoredPassVote> | undefined,
): Promise<Votes> {
  const question = grader.type === 'llm' ? criterionQuestion(grader, trial) : baselineQuestion(grader, trial)
  return question.kind === 'nothing'
    ? { passed: question.passed, message: question.why, costUsd: 0, tokens: noTokens }
    : takeVotes(question, options, checkpoint)
}

type Question =
  | ({ readonly kind: 'question' } & VoteQuestion)
  /** There is nothing to judge. `passed` null: the trial is not to blame. */
  | { readonly kind: 'nothing'; readonly passed: false | null; readonly why: string }

function criterionQuestion(
  { criteria, focus }: Extract<PaidGrader, { type: 'llm' }>,
  trial: GradedTrial,
): Question {
  const looked = targetText(focus, trial, { shortTrace: true })
  if (looked.kind === 'nothing') return { kind: 'nothing', passed: false, why: looked.why }
  return {
    kind: 'question',
    criteria,
    evidence: [{ title: titles[looked.label] ?? 'A file the agent left', text: looked.text }],
    rule: 'It passes when the work meets the criterion.',
  }
}

const titles: Readonly<Record<string, string>> = {
  last_message: 'What the agent said at the end',
  trace: 'What the agent did, one message per line as JSON',
  files: 'Files the agent made',
}

function baselineQuestion(
  { criteria, baseline_file: file }: Extract<PaidGrader, { type: 'baseline' }>,
  trial: GradedTrial,
): Question {
  const stored = usableCaseText(trial.scenario.case?.dir ?? '', file, maxBaselineBytes)
  if (stored === null) return { kind: 'nothing', passed: null, why: `the baseline ${file} cannot be read` }
  const now = traceLines(trial.transcript, trial.scenario, trial.execution).join('\n')
  return {
    kind: 'question',
    criteria,
    evidence: [
      { title: 'The baseline: an earlier session, one message per line as JSON', text: stored },
      { title: 'The session to decide on, in the same form', text: now },
    ],
    rule: 'It passes when the session is, by the criterion, at least as good as the baseline.',
  }
}

/** The judge sees its head and tail. */
const maxBaselineBytes = 16 * 1024 * 1024
