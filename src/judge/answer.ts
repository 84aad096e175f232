import { z } from 'zod'
import type { JudgeQuote, JudgeSample } from '../core/trial.ts'
import { evidenceBlocks, type JudgeContext } from './prompt.ts'
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
    quotes: z.record(z.string(), sentences).catch({}),
    weighted_score: required.has('weighted_score') ? z.number() : z.unknown().optional(),
  })
}

const ownFields: ReadonlySet<string> = new Set([
  'scores',
  'confidence',
  'issues',
  'highlights',
  'quotes',
  'weighted_score',
])

export type JudgeAnswer = z.output<ReturnType<typeof answerSchema>>

export type ScoredSample = Extract<JudgeSample, { readonly kind: 'scored' }>

export function sampleOf(
  answer: Pick<JudgeAnswer, 'scores' | 'confidence' | 'issues' | 'highlights' | 'quotes'>,
  rubric: Rubric,
  context: JudgeContext,
): ScoredSample {
  const { scores, confidence, issues, highlights } = answer
  const quotes = foundQuotes(answer.quotes, rubric, context)
  return {
    kind: 'scored',
    weighted_score: weightedScore(scores, rubric),
    scores,
    confidence,
    issues,
    highlights,
    ...(quotes.length > 0 && { quotes }),
  }
}

const maxQuotes = 3
const quoteChars = { min: 4, max: 600 }

/** Models invent quotes, so only those count that are in what the judge was shown, whatever the white space. */
function foundQuotes(
  claimed: JudgeAnswer['quotes'],
  { criteria }: Rubric,
  context: JudgeContext,
): JudgeQuote[] {
  const plain = (text: string): string => text.replaceAll(/^\| /gm, '').replaceAll(/\s+/g, ' ').trim()
  const blocks = evidenceBlocks(context).map(({ text, file }) => ({ text: plain(text), file }))
  return criteria.flatMap(({ id }) =>
    (claimed[id] ?? []).slice(0, maxQuotes).flatMap((text): JudgeQuote[] => {
      const wanted = plain(text)
      if (wanted.length < quoteChars.min || wanted.length > quoteChars.max) return []
      const block = blocks.find((one) => one.text.includes(wanted))
      if (block === undefined) return []
      return [{ criterion: id, text: text.trim(), ...(block.file !== undefined && { file: block.file }) }]
    }),
  )
}

/** Divided by the sum of weights, which may differ slightly from 1, so full marks are 1. */
export function weightedScore(scores: Readonly<Record<string, number>>, { criteria }: Rubric): number {
  const total = criteria.reduce((sum, { weight }) => sum + weight, 0)
  const earned = criteria.reduce((sum, { id, weight }) => sum + (scores[id] ?? 0) * weight, 0)
  // Rounded, so .7 in every criterion reaches a threshold of .7.
  return Math.round((earned / total) * 1e9) / 1e9
}
