import { z } from 'zod'
import type { Analysis } from '../analyze/contract.ts'
import { componentTypes } from '../contract.ts'
import { type PluginScenario, scenarioTypes } from '../generate/contract.ts'

const text = z.string()
const list = z.array(z.looseObject({ name: text, cli_name: text, description: text }))

/** As much of `analysis.json` as the later stages cannot do without. */
const analysisSchema = z.looseObject({
  plugin_name: text.min(1),
  plugin_path: text.min(1),
  content_hash: text,
  preflight: z.looseObject({}),
  components: z.looseObject({
    skills: list,
    agents: list,
    commands: list,
    hooks: list,
    mcp_servers: list,
  }),
  findings: z.array(z.looseObject({ code: text, severity: text, message: text })),
  listing: z.looseObject({}),
})

const scenarioSchema = z.looseObject({
  id: text.min(1),
  component_ref: text,
  component_type: z.enum(componentTypes),
  expected_component: text,
  scenario_type: z.enum(scenarioTypes),
  user_prompt: text,
  expected_trigger: z.boolean(),
})

const scenariosSchema = z.looseObject({ scenarios: z.array(scenarioSchema) })

/** Files of a run may be edited, cut or exchanged by anybody: what is no analysis is not taken for one. */
export function isAnalysis(value: unknown): value is Analysis {
  return analysisSchema.safeParse(value).success
}

export function isAnalyses(value: unknown): value is readonly Analysis[] {
  return Array.isArray(value) && value.every(isAnalysis)
}

/** Whether it is the content of a `scenarios.json`, whose ids are all different. */
export function isScenariosFile(value: unknown): value is { readonly scenarios: readonly PluginScenario[] } {
  const read = scenariosSchema.safeParse(value)
  return read.success && new Set(read.data.scenarios.map(({ id }) => id)).size === read.data.scenarios.length
}
