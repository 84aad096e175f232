import { z } from 'zod'
import { componentTypes } from '../contract.ts'
import { type PluginScenario, type ScenarioType, scenarioTypes } from './contract.ts'
import { scenarioFields } from './scenarios-schema.ts'

const count = z.int().min(0)
const countsSchema = z.partialRecord(z.enum(scenarioTypes), count)

/** How the scenarios of one component came about. */
export const componentRecordSchema = z.object({
  /** `skill:greet`. */
  component: z.string(),
  component_type: z.enum(componentTypes),
  name: z.string(),
  /** `none`: there are no scenarios, and `skipped` has the reason. With `model`, single scenarios may still be `fallback`. */
  origin: z.enum(['model', 'template', 'fallback', 'none']),
  /** Requested scenarios per type. Empty for templates. */
  asked: countsSchema,
  got: countsSchema,
  /** Only with a model: the number of ideas requested, how many scenarios may share one, and the ideas it had. */
  ideas: z
    .object({ asked: count, variations_per_base: count, got: count, texts: z.array(z.string()) })
    .exactOptional(),
  /** Unusable scenarios of the model, with the reason. */
  dropped: z.array(z.object({ reason: z.string(), prompt: z.string() })),
  /** Repairs, by slot. */
  repaired: z.array(z.object({ slot: z.string(), what: z.string() })),
  skipped: z.string().exactOptional(),
  usage: z.array(
    z.object({
      model: z.string(),
      /** Requests to the model. A repaired answer counts once. */
      requests: count,
      tokens: z.object({
        input: count,
        output: count,
        cacheRead: count,
        cacheWrite: count,
        thinking: count.exactOptional(),
      }),
      /** null = unmetered. */
      cost_usd: z.number().nullable(),
    }),
  ),
  warnings: z.array(z.string()),
})

export type ComponentRecord = z.output<typeof componentRecordSchema>

/** A scenario without an id. The id is made from its component and the suffix. */
export type UnnamedScenario = Omit<PluginScenario, 'id'> & { readonly suffix: string }

export interface ComponentScenarios {
  readonly scenarios: readonly UnnamedScenario[]
  readonly record: ComponentRecord
}

/** As stored in the checkpoint. */
export const componentScenariosSchema = z.object({
  scenarios: z.array(
    z.object({
      ...scenarioFields,
      suffix: z.string().min(1),
      expected_component: z.string(),
      scenario_type: z.enum(scenarioTypes),
      expected_trigger: z.boolean(),
    }),
  ),
  record: componentRecordSchema,
})

/** The number of scenarios per type; types without any are omitted. */
export function typeCounts(
  scenarios: readonly Pick<PluginScenario, 'scenario_type'>[],
): Partial<Record<ScenarioType, number>> {
  const counts: Partial<Record<ScenarioType, number>> = {}
  for (const { scenario_type: type } of scenarios) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

/** The scenarios of a component that need no model, or why there are none. */
export interface TemplateScenarios {
  readonly scenarios: readonly UnnamedScenario[]
  /** Nothing of it can be tried. */
  readonly skipped?: string
  readonly warnings?: readonly string[]
}
