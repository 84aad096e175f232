import { z } from 'zod'

/**
 * The Agent Trajectory Interchange Format, version 1.7: all its fields and rules. Other fields are rejected; Gantry's own belong
 * in `extra`.
 */
const extra = z.record(z.string(), z.unknown()).optional()
const count = z.int().nonnegative().optional()

const contentPart = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('image'),
    source: z.strictObject({
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      path: z.string(),
    }),
  }),
])

const content = z.union([z.string(), z.array(contentPart)])

const subagentRef = z
  .strictObject({
    trajectory_id: z.string().optional(),
    trajectory_path: z.string().optional(),
    session_id: z.string().optional(),
    extra,
  })
  .refine((ref) => ref.trajectory_id !== undefined || ref.trajectory_path !== undefined, {
    message: 'a reference needs trajectory_id or trajectory_path',
  })

const toolCall = z.strictObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  extra,
})

const observation = z.strictObject({
  results: z.array(
    z.strictObject({
      source_call_id: z.string().optional(),
      content: content.optional(),
      subagent_trajectory_ref: z.array(subagentRef).optional(),
      extra,
    }),
  ),
})

const metrics = z.strictObject({
  prompt_tokens: count,
  completion_tokens: count,
  cached_tokens: count,
  cost_usd: z.number().nonnegative().optional(),
  prompt_token_ids: z.array(z.int()).optional(),
  completion_token_ids: z.array(z.int()).optional(),
  logprobs: z.array(z.number()).optional(),
  extra,
})

const agentOnly = ['model_name', 'reasoning_effort', 'reasoning_content', 'tool_calls', 'metrics'] as const

const step = z
  .strictObject({
    step_id: z.int().positive(),
    timestamp: z.iso.datetime({ offset: true }).optional(),
    source: z.enum(['system', 'user', 'agent']),
    message: content,
    model_name: z.string().optional(),
    reasoning_effort: z.union([z.string(), z.number()]).optional(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(toolCall).optional(),
    observation: observation.optional(),
    metrics: metrics.optional(),
    is_copied_context: z.boolean().optional(),
    llm_call_count: count,
    extra,
  })
  .superRefine((value, context) => {
    const wrong = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message })
    for (const key of agentOnly)
      if (value.source !== 'agent' && value[key] !== undefined)
        wrong(key, 'only a step of the agent has this')
    for (const key of ['metrics', 'reasoning_content'] as const)
      if (value.llm_call_count === 0 && value[key] !== undefined)
        wrong(key, 'absent where no model was called')
    const calls = (value.tool_calls ?? []).map((call) => call.tool_call_id)
    if (new Set(calls).size !== calls.length) wrong('tool_calls', 'two calls have the same id')
    for (const { source_call_id } of value.observation?.results ?? [])
      if (source_call_id !== undefined && !calls.includes(source_call_id))
        wrong('observation', `no call ${source_call_id} here`)
  })

const flat = z.strictObject({
  schema_version: z.literal('ATIF-v1.7'),
  session_id: z.string().optional(),
  trajectory_id: z.string().optional(),
  agent: z.strictObject({
    name: z.string(),
    version: z.string(),
    model_name: z.string().optional(),
    tool_definitions: z.array(z.record(z.string(), z.unknown())).optional(),
    extra,
  }),
  steps: z.array(step).min(1),
  notes: z.string().optional(),
  final_metrics: z
    .strictObject({
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cached_tokens: count,
      total_cost_usd: z.number().nonnegative().optional(),
      total_steps: count,
      extra,
    })
    .optional(),
  continued_trajectory_ref: z.string().optional(),
  extra,
})

interface Trajectory extends z.output<typeof flat> {
  subagent_trajectories?: Trajectory[] | undefined
}

export const atifSchema: z.ZodType<Trajectory> = flat
  .extend({
    get subagent_trajectories() {
      return z.array(atifSchema).optional()
    },
  })
  .superRefine((trajectory, context) => {
    const wrong = (path: (string | number)[], message: string): void =>
      context.addIssue({ code: 'custom', path, message })
    for (const [index, { step_id }] of trajectory.steps.entries())
      if (step_id !== index + 1) wrong(['steps', index, 'step_id'], `is not ${index + 1}`)
    const ids = (trajectory.subagent_trajectories ?? []).map((subagent) => subagent.trajectory_id)
    if (ids.includes(undefined) || new Set(ids).size !== ids.length)
      wrong(['subagent_trajectories'], 'each needs a unique id')
    for (const { observation: seen } of trajectory.steps)
      for (const ref of (seen?.results ?? []).flatMap((result) => result.subagent_trajectory_ref ?? []))
        if (ref.trajectory_path === undefined && !ids.includes(ref.trajectory_id))
          wrong(['steps'], `${ref.trajectory_id} is not embedded`)
  })
