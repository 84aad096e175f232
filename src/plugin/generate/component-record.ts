import { z } from 'zod'
import { type AnyComponent, componentId } from '../component-list.ts'
import { componentTypes } from '../contract.ts'
import { type PluginScenario, type ScenarioType, scenarioTypes } from './contract.ts'
import { scenarioFields } from './scenarios-schema.ts'

const count = z.int().min(0)
const countsSchema = z.partialRecord(z.enum(scenarioTypes), count)

export const modelUseSchema = z.object({
  model: z.string(),
  tokens: z.object({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    thinking: count.exactOptional(),
  }),
  /** null = unmetered. */
  cost_usd: z.number().nullable(),
})

/** How the scenarios of one component were made. */
const componentRecordSchema = z.object({
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
  /** `requests` to the model: a repaired answer counts once. */
  usage: z.array(modelUseSchema.extend({ requests: count })),
  warnings: z.array(z.string()),
})

export type ComponentRecord = z.output<typeof componentRecordSchema>

/** A scenario without an id. The id is made from its component and the suffix. */
export type UnnamedScenario = Omit<PluginScenario, 'id'> & { readonly suffix: string }

/** Makes scenarios of a component. A negative one expects it to stay quiet; the others expect it to fire. */
export function scenarioMaker(
  component_type: AnyComponent['type'],
  name: string,
  origin: PluginScenario['origin'],
) {
  const facts = { component_ref: name, expected_component: name, component_type, origin }
  return (
    suffix: string,
    scenario_type: ScenarioType,
    user_prompt: string,
    more: Partial<UnnamedScenario> = {},
  ): UnnamedScenario => {
    const expected_trigger = scenario_type !== 'negative'
    return { ...facts, suffix, scenario_type, user_prompt, expected_trigger, ...more }
  }
}

export type ComponentScenarios = ReturnType<typeof recorded>

export function recorded(
  { type, component: { name } }: AnyComponent,
  scenarios: readonly UnnamedScenario[],
  facts: Pick<ComponentRecord, 'origin'> & Partial<ComponentRecord>,
) {
  const record = {
    component: componentId(type, name),
    component_type: type,
    name,
    asked: {},
    got: occurrences(scenarios.map(({ scenario_type }) => scenario_type)),
    dropped: [],
    repaired: [],
    usage: [],
    warnings: [],
    ...facts,
  }
  return { scenarios, record }
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

export function occurrences<Value extends string>(values: readonly Value[]): Partial<Record<Value, number>> {
  const counts: Partial<Record<Value, number>> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** The scenarios of a component that need no model, or why there are none. */
export interface TemplateScenarios {
  readonly scenarios: readonly UnnamedScenario[]
  /** It cannot be tried. */
  readonly skipped?: string
  readonly warnings?: readonly string[]
}
