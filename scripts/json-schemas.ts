import { z } from 'zod'
import { scriptSchema } from '../src/agents/scripted/schema.ts'
import { harnessSchema } from '../src/config/guard-schema.ts'
import { configSchema } from '../src/config/schema.ts'
import { comparisonSchema } from '../src/core/comparison.ts'
import { anyGateSchema } from '../src/gates/index.ts'
import { labelSchema } from '../src/judge/labels.ts'
import { rubricSchema } from '../src/judge/rubric.ts'
import { boundaryScriptSchema } from '../src/models/boundary/script/schema.ts'
import { modelScriptSchema } from '../src/models/scripted/provider.ts'
import { pluginFileSchema } from '../src/plugin/config/keys/schema.ts'
import { scenariosFileSchema } from '../src/plugin/generate/scenarios-schema.ts'
import { hookExamplesSchema } from '../src/plugin/hook-lab/hook-examples.ts'
import { baselineSchema } from '../src/scenario/open-side.ts'
import { schemaFor } from '../src/scenario/schema.ts'
import { agentFileSchema } from '../src/verifier/agent-file.ts'

const schemas: Record<string, { readonly title: string; readonly schema: z.ZodType }> = {
  gantry: { title: 'gantry.yaml', schema: configSchema },
  agent: { title: 'agent.yaml: how a repository is verified', schema: agentFileSchema },
  scenario: { title: 'A Gantry scenario', schema: schemaFor(anyGateSchema) },
  'plugin-scenarios': { title: 'Scenarios for a plugin', schema: scenariosFileSchema },
  harness: { title: 'harness.json: settings of the guard', schema: harnessSchema },
  plugin: { title: 'Settings of a plugin evaluation', schema: pluginFileSchema },
  'plugin-hook-case': { title: 'What the hooks of a plugin must answer', schema: hookExamplesSchema },
  baseline: { title: 'Results of a run that later ones are compared with', schema: baselineSchema },
  comparison: { title: 'What `gantry compare --json` prints', schema: comparisonSchema },
  label: { title: 'A line of labels.jsonl', schema: labelSchema },
  rubric: { title: 'A rubric for the judge', schema: rubricSchema },
  'agent-script': { title: 'A script for the scripted agent', schema: scriptSchema },
  'model-script': { title: 'A script for the scripted model', schema: modelScriptSchema },
  'boundary-script': {
    title: 'A script that answers in place of the model behind an agent',
    schema: boundaryScriptSchema,
  },
}

/** One JSON Schema for every kind of file a user writes, by path. */
export function jsonSchemas(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { title, schema }]) => {
      const { $schema, ...body } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' })
      return [`schemas/${name}.schema.json`, `${JSON.stringify({ $schema, title, ...body }, null, 2)}\n`]
    }),
  )
}
