import { z } from 'zod'
import type { EvalCaseFacts } from './contract.ts'

const text = z.string().min(1)
const target = z.union([
  z.enum(['last_message', 'trace', 'files', 'mock_calls']),
  z.strictObject({
    source: z.literal('file'),
    path: text.describe('In the workspace.'),
  }),
])
const toolPattern = z.strictObject({
  tool: text.describe('Name of the tool.'),
  input_match: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .exactOptional()
    .describe('What its input must hold.'),
})
const common = {
  name: text.describe('Of the grader.'),
  weight: z.number().positive().describe('Its share of the score.'),
  arm: z.enum(['default', 'with-only', 'both']).describe('In which arms it is scored.'),
}

const graderSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('regex'),
    pattern: z.string().describe('What is looked for.'),
    flags: z.string().describe('Of the pattern.'),
    match: z
      .union([
        z.enum(['contains', 'not_contains']),
        z.strictObject({ count: z.int().min(0).describe('Exactly so often.') }),
      ])
      .describe('How often it must be found.'),
    target: target.describe('Where it is looked for.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_used'),
    use: toolPattern.describe('Which calls.'),
    min: z.int().min(0).describe('At least so many.'),
    max: z.int().min(0).nullable().describe('At most so many; null: any number.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_order'),
    before: toolPattern.describe('First.'),
    after: toolPattern.describe('Then.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('file_exists'),
    path: text.describe('A glob in the workspace.'),
    exists: z.boolean().describe('Whether it must be there.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('llm'),
    criteria: text.describe('What the judge looks for.'),
    focus: target.describe('What the judge sees.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('baseline'),
    baseline_file: text.describe('A stored transcript.'),
    criteria: z.string().describe('What the judge compares.'),
  }),
])

/** What a case of `claude plugin eval` says beyond prompt and expectation, as it stands in a `scenarios.json` of ours. */
// Every key of the contract has to be here: a file of ours must stay readable.
export const caseFactsSchema = z.strictObject({
  dir: text.describe('Where the case lies.'),
  graders: z.array(graderSchema).describe('Its graders.'),
  runs: z.int().min(1).exactOptional().describe('How often it is tried.'),
  model: text.exactOptional().describe('Of the agent.'),
  max_turns: z.int().min(1).exactOptional().describe('Answers of the model.'),
  timeout_ms: z.int().min(1).exactOptional().describe('Of one trial.'),
  allowed_tools: z.array(text).exactOptional().describe('Tools that need no permission.'),
  disallowed_tools: z.array(text).exactOptional().describe('Tools the agent does not have.'),
  append_system_prompt: z.string().exactOptional().describe('Behind the system prompt.'),
  env: z.record(z.string(), z.string()).exactOptional().describe('Variables of the agent.'),
  plugins: z.array(text).exactOptional().describe('Further plugins, absolute.'),
  scaffold_script: text.exactOptional().describe('Runs in the workspace first, if allowed.'),
  history_file: text.exactOptional().describe('A transcript to go on with.'),
  add_dirs: z.array(text).exactOptional().describe('Further directories to read.'),
} satisfies Record<keyof EvalCaseFacts, z.ZodType>)
