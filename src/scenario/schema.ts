import { z } from 'zod'
import { targetSchema } from '../config/target-schema.ts'
import { choice, optionalCount, text, texts } from '../core/schema.ts'
import type { OwnGate } from '../gates/define-gate.ts'
import { type GateSpec, gateSchema, gateSchemaWith } from '../gates/index.ts'

const timeoutSecs = z.number().positive().max(86_400)

const scriptSchema = z.strictObject({
  command: z.string().trim().min(1).describe('Shell command, run in the workspace.'),
  timeout_secs: timeoutSecs.default(30).describe('Time limit in seconds.'),
})

const evaluatorSchema = z.strictObject({
  name: z.string().min(1).describe('Key of the result in metrics.json.'),
  command: z
    .string()
    .trim()
    .min(1)
    .describe('Shell command, run in the workspace; prints JSON with metrics, score and summary.'),
  timeout_secs: timeoutSecs.default(60).describe('Time limit in seconds.'),
})

const judgeSchema = z
  .strictObject({
    enabled: z.boolean().describe('Whether a model judges the trial.'),
    mode: choice(
      ['score', 'pairwise'],
      'score',
      'score: each result by itself. pairwise: the results of two arms or agents against each other.',
    ),
    rubric: text('Rubric file, relative to the scenario file, then to the fixtures folder and the project.'),
    pass_threshold: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Smallest weighted score that passes; required in the mode score.'),
    samples: z.int().min(1).max(25).default(1).describe('Number of answers of the judge.'),
    aggregate: z
      .enum(['mean', 'median', 'min'])
      .default('mean')
      .describe('How the samples become one score.'),
    always: z.boolean().default(false).describe('Judge also when a gate failed.'),
  })
  .refine(({ mode, pass_threshold }) => mode === 'pairwise' || pass_threshold !== undefined, {
    error: 'a judge that scores needs it',
    path: ['pass_threshold'],
  })

const weight = z.number().min(0)

const compositeSchema = z
  .strictObject({
    judge_weight: weight
      .default(0.55)
      .describe('Share of the judge. A part that was not measured is left out.'),
    gate_weight: weight.default(0.35).describe('Share of the gates that passed.'),
    interaction_weight: weight.default(0.1).describe('Share of the first-try success rate.'),
  })
  .refine((weights) => weightSum(weights) > 0, { error: 'one of the three weights must be above 0' })

/** The score divides by the sum of the weights, so it need not be 1. */
export function weightSum(
  weights: Record<'judge_weight' | 'gate_weight' | 'interaction_weight', number>,
): number {
  return weights.judge_weight + weights.gate_weight + weights.interaction_weight
}

/** One complete scenario file. Defaults are filled in only here. */
export const scenarioSchema = schemaFor(gateSchema)

/** The same with the gates of the user. */
export function scenarioSchemaWith(own: readonly OwnGate[]): typeof scenarioSchema {
  return own.length === 0 ? scenarioSchema : schemaFor(gateSchemaWith(own))
}

export function schemaFor(gate: z.ZodType<GateSpec>) {
  return z.strictObject({
    name: z.string().trim().min(1).max(200).describe('Name of the scenario, unique in a run.'),
    description: z.string().min(1).describe('What the scenario tests.'),
    target: z
      .union([z.literal('from_config'), targetSchema])
      .describe('The tool under test, or `from_config` to use the one in gantry.yaml.'),
    template_folder: text(
      'Directory copied into each fresh workspace: beside the scenario file, then in the fixtures folder, then in the project; in each of them also under `templates/`.',
    ),
    setup: z
      .strictObject({
        commands: z
          .array(z.string().trim().min(1))
          .default([])
          .describe('Run in order, all of them even after one failed.'),
      })
      .default({ commands: [] })
      .describe(
        'Shell commands run in the workspace before the agent. One that fails makes the trial invalid.',
      ),
    task: z
      .strictObject({ prompt: z.string().min(1).describe('The prompt, sent unchanged.') })
      .describe('The task of the agent.'),
    scripts: z
      .strictObject({
        post: z
          .array(scriptSchema)
          .default([])
          .describe('Run after the agent and before any check; a failure is only a warning.'),
        evaluators: z
          .array(evaluatorSchema)
          .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
            error: 'two evaluators have the same name; results are stored by name',
          })
          .default([])
          .describe('Custom measurements; they do not affect the verdict.'),
      })
      .default({ post: [], evaluators: [] })
      .describe('Scripts around the evaluation.'),
    oracle: scriptSchema
      .optional()
      .describe('A script that solves the task: `gantry scenario check` proves the gates with it.'),
    evaluation: z
      .strictObject({
        gates: z.array(gate).describe('Deterministic checks; all of them run and all must pass.'),
        judge: judgeSchema.optional().describe('A model that scores the result by a rubric.'),
        composite: compositeSchema
          .optional()
          .describe(
            'Weights of the composite score, scaled to a sum of 1; without this block there is no composite score.',
          ),
      })
      .refine(({ gates, judge }) => gates.length > 0 || judge?.enabled === true, {
        error: 'a scenario needs at least one gate or an enabled judge: otherwise nothing can fail',
        path: ['gates'],
      })
      .describe('How the result is evaluated.'),
    tool_matrix: z
      .array(
        z.strictObject({
          tool: z.string().min(1).describe('Name of an agent.'),
          models: texts('Its models; without any, the default model is used.'),
        }),
      )
      .optional()
      .describe(
        'Deprecated: agents and models of this scenario. Flags take precedence; prefer profiles in gantry.yaml.',
      ),
    run: z
      .strictObject({
        timeout_secs: timeoutSecs
          .optional()
          .describe('Time limit of the agent; `--timeout` takes precedence.'),
        max_turns: optionalCount('The agent is stopped after this many turns, if its output shows them.'),
      })
      .default({})
      .describe('Limits of one trial.'),
    tags: z.array(z.string().min(1)).default([]).describe('Labels for --tag.'),
    tier: z
      .int()
      .min(0)
      .default(0)
      .describe('0 smoke, 1 quick, 2 standard, 3 comprehensive; --tier N keeps those up to N.'),
    cost: z
      .strictObject({
        max_usd: z.number().positive().optional().describe('Cost at which a trial is stopped.'),
        cache: z.boolean().default(true).describe('Whether a result may be taken from the cache.'),
      })
      .default({ cache: true })
      .describe('Limit of cost.'),
  })
}

export type Scenario = z.output<typeof scenarioSchema>
