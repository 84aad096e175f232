import { z } from 'zod'
import { readYaml } from '../io/yaml.ts'

const criterionSchema = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'an id is made of letters, digits, _, . and -')
    .describe('Short name, unique in the rubric; the key of its score.'),
  weight: z.number().min(0).max(1).describe('Share of the weighted score. All weights sum to 1.'),
  description: z.string().trim().min(1).describe('What earns a high score and what a low one.'),
})

/** The criteria of a judge. The scenario's author decides what matters, so there are no default criteria. */
export const rubricSchema = z.strictObject({
  criteria: z
    .array(criterionSchema)
    .min(1)
    .superRefine((criteria, context) => {
      const sum = criteria.reduce((total, { weight }) => total + weight, 0)
      // Three weights of .33 sum to .99, which is accepted. The extra tolerance is for binary fractions.
      if (Math.abs(sum - 1) > 0.0101)
        context.addIssue({
          code: 'custom',
          message: `the weights sum to ${Number(sum.toFixed(4))}, not to 1`,
        })
      for (const [index, { id }] of criteria.entries())
        if (criteria.findIndex((other) => other.id === id) < index)
          context.addIssue({ code: 'custom', path: [index, 'id'], message: `there are two criteria '${id}'` })
    })
    .describe('What is scored, each from 0 to 1.'),
  output: z
    .strictObject({
      format: z.literal('json').default('json').describe('How the judge answers.'),
      require_fields: z
        .array(z.string().min(1))
        .default([])
        .describe('Fields the answer must have besides scores and confidence, such as issues or reasoning.'),
    })
    .optional()
    .describe('The form of the answer.'),
})

export type Rubric = z.output<typeof rubricSchema>

/** Throws GantryError with `file:line:col` for a missing or invalid rubric. */
export function readRubric(path: string): Rubric {
  return readYaml(path, rubricSchema).value
}
