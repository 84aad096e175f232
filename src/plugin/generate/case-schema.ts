import { z } from 'zod'

const text = z.string().min(1)
const target = z.union([
  z.enum(['last_message', 'trace', 'files', 'mock_calls']),
  z.strictObject({ source: z.literal('file'), path: text.describe('In the workspace.') }),
])
const toolPattern = z.strictObject({
  tool: text.describe('Name of the tool.'),
  input_match: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .exactOptional()
    .describe('What its input must contain.'),
})
const common = {
  name: text.describe('Name of the grader.'),
  weight: z.number().positive().describe('Its share of the score.'),
  arm: z.enum(['default', 'with-only', 'both']).describe('In which arms it is scored.'),
}

const graderSchema = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('regex'),
    pattern: z.string().describe('The pattern.'),
    flags: z.string().describe('Flags of the pattern.'),
    match: z
      .union([
        z.enum(['contains', 'not_contains']),
        z.strictObject({ count: z.int().min(0).describe('Exact number of matches.') }),
      ])
      .describe('How often the pattern must match.'),
    target: target.describe('The text that is searched.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('tool_used'),
    use: toolPattern.describe('Which calls.'),
    min: z.int().min(0).describe('Minimum number of calls.'),
    max: z.int().min(0).nullable().describe('Maximum number of calls; null: no limit.'),
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
    exists: z.boolean().describe('Whether the file must exist.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('llm'),
    criteria: text.describe('What the judge checks.'),
    focus: target.describe('What the judge sees.'),
  }),
  z.strictObject({
    ...common,
    type: z.literal('baseline'),
    baseline_file: text.describe('A stored transcript.'),
    criteria: z.string().describe('What the judge compares.'),
  }),
])

/** A server whose tools give fixed answers. */
const mockServerSchema = z.strictObject({
  cli_name: text.describe("The server's name in Claude Code."),
  tools: z
    .array(
      z.strictObject({
        name: text.describe('As the model calls it.'),
        description: z.string().describe('As the model reads it.'),
        input_schema: z.unknown().describe('JSON Schema of its arguments.'),
        // With `{{input.<field>}}` for what the call gave.
        text: z.string().describe('The answer.'),
        is_error: z.boolean().describe('The answer is an error.'),
        // By path in the input: a type, a /pattern/, a value, or a list of values.
        expect: z.record(z.string(), z.unknown()).describe('Arguments that a call must have.'),
      }),
    )
    .describe('Its tools.'),
})

/** The fields of a `claude plugin eval` case beyond prompt and expectation, as written to `scenarios.json`. */
export const caseFactsSchema = z.strictObject({
  dir: text.describe('Directory of the case.'),
  graders: z.array(graderSchema).describe('Its graders.'),
  runs: z.int().min(1).exactOptional().describe('How often it is run.'),
  model: text.exactOptional().describe('Model of the agent.'),
  max_turns: z.int().min(1).exactOptional().describe('Maximum number of model responses.'),
  timeout_ms: z.int().min(1).exactOptional().describe('Time limit of one trial.'),
  allowed_tools: z.array(text).exactOptional().describe('Tools that are allowed without asking.'),
  disallowed_tools: z.array(text).exactOptional().describe('Tools the agent cannot use.'),
  append_system_prompt: z.string().exactOptional().describe('Appended to the system prompt.'),
  env: z.record(z.string(), z.string()).exactOptional().describe('Environment variables of the agent.'),
  plugins: z.array(text).exactOptional().describe('Additional plugins, absolute paths.'),
  scaffold_script: text.exactOptional().describe('Runs in the workspace before the agent, if allowed.'),
  history_file: text.exactOptional().describe('A transcript to continue.'),
  add_dirs: z.array(text).exactOptional().describe('Additional directories the agent may read.'),
  mocks: z
    .array(mockServerSchema)
    .exactOptional()
    .describe('Servers with fixed answers, instead of those of the plugin.'),
})

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T

export type EvalCaseFacts = DeepReadonly<z.output<typeof caseFactsSchema>>
export type MockServer = DeepReadonly<z.output<typeof mockServerSchema>>
export type MockTool = MockServer['tools'][number]
export type Grader = DeepReadonly<z.output<typeof graderSchema>>
export type GraderTarget = DeepReadonly<z.output<typeof target>>
export type ToolPattern = DeepReadonly<z.output<typeof toolPattern>>
