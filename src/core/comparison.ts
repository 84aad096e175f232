import { z } from 'zod'
import { amountNames } from './case-facts.ts'
import { preferenceSchema } from './stats/preference.ts'

const name = z.strictObject({ name: z.string(), run_id: z.string() })
const group = { case: z.string(), agent: z.string(), model: z.string() }

const comparedResult = z.strictObject({
  passes: z.number(),
  trials: z.number(),
  trial: z
    .string()
    .nullable()
    .describe('Directory of a trial that shows the change; null when there is none.'),
})

const comparedCase = z.strictObject({
  ...group,
  before: comparedResult,
  after: comparedResult,
  p: z.number().describe("Of Fisher's exact test, adjusted for the number of cases."),
  gate: z
    .string()
    .nullable()
    .describe(
      'The first gate that passed more often on one side, such as `gate 2 (file_contains): 3/3 in A, 0/3 in B`.',
    ),
})

const leftOutCase = z.strictObject({ ...group, reason: z.string() })

const ratio = z.strictObject({
  ratio: z.number(),
  low: z.number().nullable().describe('null with too few pairs.'),
  high: z.number().nullable(),
})

/** The second side against the first. Printed by `gantry compare --json`. */
export const comparisonSchema = z.strictObject({
  schema_version: z.literal(1),
  before: name,
  after: name,
  verdict: z.enum(['better', 'worse', 'same', 'inconclusive']).describe('B against A.'),
  difference: z
    .strictObject({ value: z.number().nullable(), low: z.number(), high: z.number() })
    .describe('Of the pass rates, with its 95% interval.'),
  p: z.number(),
  pairs: z.number().describe('Cases that both sides have.'),
  unit: z
    .enum(['cases', 'trials'])
    .describe('trials: the answer is about these cases only, because there are too few to say it of others.'),
  rounds: z
    .number()
    .nullable()
    .describe(
      'Rounds after which it was looked at; interval and p allow for it. null: it was compared once, at the end.',
    ),
  margin: z.number().describe('Differences up to this do not matter.'),
  needed_trials_per_case: z
    .number()
    .nullable()
    .describe(
      'More trials per case that would probably decide; null when decided, or when only more cases would.',
    ),
  metrics: z.record(z.enum(amountNames), ratio.nullable()).describe('Ratios of amounts; less is better.'),
  preference: preferenceSchema
    .nullable()
    .describe('Of a judge that compared the results of both sides; null when none did.'),
  cases: z.array(comparedCase).readonly().describe('Those that changed come first.'),
  left_out: z.array(leftOutCase).readonly(),
  regressions: z
    .array(
      z.strictObject({
        ...group,
        kind: z.enum(['gate', 'score', 'cost']),
        severity: z.enum(['alert', 'warning']),
        message: z.string(),
      }),
    )
    .readonly(),
  doubts: z.array(z.string()).readonly().describe('What makes a side less trustworthy.'),
})

export type Comparison = Readonly<z.output<typeof comparisonSchema>>
export type ComparedCase = Readonly<z.output<typeof comparedCase>>
export type LeftOutCase = Readonly<z.output<typeof leftOutCase>>
