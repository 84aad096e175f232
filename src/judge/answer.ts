import { z } from 'zod'
import type { JudgeSample } from '../core/trial.ts'
import type { Rubric } from './rubric.ts'

const share = z.number().min(0).max(1)
const sentences = z.array(z.string())

/**
 * The schema of a judge's answer: a score for every criterion. Invented criteria are dropped. A weighted score is accepted and
 * ignored, because models cannot be trusted to add.
 */
export function answerSchema({ criteria, output }: Rubric) {
  const required = new Set(output?.require_fields ?? [])
  const scores = Object.fromEntries(criteria.map(({ id }) => [id, share]))
  const further = [...required]
    .filter((field) => !ownFields.has(field))
    .map((field) => [field, z.json()] as const)
  return z.object({
    ...Object.fromEntries(further),
    scores: z.object(scores),
    confidence: share,
    issues: required.has('issues') ? sentences : sentences.default([]),
    highlights: required.has('highlights') ? sentences : sentences.default([]),
    weighted_score: required.has('weighted_score') ? z.number() : z.unknown().optional(),
  })
}

const ownFields: ReadonlySet<string> = new Set([
  'scores',
  'confidence',
  'issues',
  'highlights',
  'weighted_score',
])

export type JudgeAnswer = z.output<ReturnType<typeof answerSchema>>

export type ScoredSample = Extract<JudgeSample, { readonly kind: 'scored' }>

export function sampleOf(
  answer: Pick<JudgeAnswer, 'scores' | 'confidence' | 'issues' | 'highlights'>,
  rubric: Rubric,
): ScoredSample {
  const { scores, confidence, issues, highlights } = answer
  return {
    kind: 'scored',
    weighted_score: weightedScore(scores, rubric),
    scores,
    confidence,
    issues,
    highlights,
  }
}

/** Divided by the sum of weights, which may differ slightly from 1, so full marks are 1. */
export function weightedScore(scores: Readonly<Record<string, number>>, { criteria }: Rubric): number {
  const total = criteria.reduce((sum, { weight }) => sum + weight, 0)
  const earned = criteria.reduce((sum, { id, weight }) => sum + (scores[id] ?? 0) * weight, 0)
  // Rounded, so .7 in every criterion reaches a threshold of .7.
  return Math.round((earned / total) * 1e9) / 1e9
}
