import type { z } from 'zod'
import type { Tool, ToolResult } from '../../../models/contract.ts'
import type { AgentRequest } from '../../contract.ts'

/** The context of the tools of one run. */
export interface ToolPlace {
  /** Absolute. Tools cannot access paths outside. */
  readonly workspace: string
  /** The complete environment of commands. */
  readonly env: Readonly<Record<string, string>>
  readonly sandbox?: AgentRequest['sandbox']
}

/** A tool whose implementation gets a typed input. */
export function defineTool<Input extends z.ZodType>({
  input: schema,
  run,
  ...rest
}: {
  readonly name: string
  readonly description: string
  readonly input: Input
  run(input: z.output<Input>, signal: AbortSignal): Promise<ToolResult> | ToolResult
}): Tool {
  return { ...rest, input: schema, run: async (input, { signal }) => run(schema.parse(input), signal) }
}

/** The result that the model reads when a tool failed. */
export function refused(output: string): ToolResult {
  return { output, isError: true }
}
