import { z } from 'zod'
import { agentSchema } from '../agents/index.ts'
import { modulePath } from '../core/module-path.ts'
import { compilePattern } from '../core/pattern.ts'
import { optionalText } from '../core/schema.ts'
import { pricesSchema } from '../models/price-table.ts'
import { pluginFileSchema } from '../plugin/config/keys/schema.ts'
import { armSchema } from './arm-schema.ts'
import { guardSchema } from './guard-schema.ts'
import { targetSchema } from './target-schema.ts'

/** gantry.yaml: found upward from the working directory, every key optional, paths relative to the file. */
export const configSchema = z
  .strictObject({
    agents: z
      .record(z.string().min(1), agentSchema)
      .default({})
      .describe('Agents by the name used with --agent.'),
    arms: z
      .record(z.string().min(1), armSchema)
      .default({})
      .describe('Variants of agents by the name used with --arms, which compares them.'),
    profiles: z
      .record(
        z.string().min(1),
        z.strictObject({
          agents: z.array(z.string().min(1)).min(1).describe('Names of agents.'),
          models: z
            .array(z.string().min(1))
            .min(1)
            .default(['default'])
            .describe('Every agent is run with each of these.'),
        }),
      )
      .default({})
      .describe('Named matrices of agents and models for --profile.'),
    target: targetSchema
      .optional()
      .describe('The tool under test of every scenario that says `target: from_config`.'),
    scenarios: z
      .array(z.string().min(1))
      .default(['scenarios/**/*.{yaml,yml}', 'fixtures/*.{yaml,yml}'])
      .describe('Globs of the scenario files that are run when no path is given.'),
    gates: z
      .array(modulePath)
      .default([])
      .describe('Modules that define gates of your own: .js, .mjs or .ts, relative to this file.'),
    fixtures_path: z.string().min(1).default('fixtures').describe('Directory of templates and rubrics.'),
    cassettes_path: z
      .string()
      .min(1)
      .default('cassettes')
      .describe('Directory of recorded traffic between agents and models.'),
    results_path: optionalText('Directory of stored runs; AGENT_ARTIFACT_DIR takes precedence.'),
    models: pricesSchema.default({}).describe('Prices per model, overriding the built-in ones.'),
    redact: z
      .array(
        z
          .string()
          .min(1)
          .superRefine((source, context) => {
            const compiled = compilePattern(source)
            if (compiled.kind === 'bad')
              context.addIssue({ code: 'custom', message: `the pattern is invalid: ${compiled.message}` })
          }),
      )
      .default([])
      .describe('Additional patterns (RE2) to redact everywhere.'),
    guard: guardSchema
      .default({})
      .describe('Settings of the guard: the keys of harness.json, which they override.'),
    plugin: pluginFileSchema
      .default({})
      .describe('Settings of plugin evaluations: the keys of their configuration file.'),
  })
  .superRefine(({ agents, arms }, context) => {
    for (const [name, { agent }] of Object.entries(arms)) {
      if (Object.hasOwn(agents, name))
        context.addIssue({ code: 'custom', path: ['arms', name], message: 'is also the name of an agent' })
      if (Object.hasOwn(arms, agent))
        context.addIssue({
          code: 'custom',
          path: ['arms', name, 'agent'],
          message: 'names an arm instead of an agent',
        })
    }
  })

export type Config = z.output<typeof configSchema>
