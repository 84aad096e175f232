import type { z } from 'zod'
import type { Tool, ToolResult } from '../../../models/contract.ts'
import type { AgentRequest } from '../../contract.ts'

export interface ToolPlace {
  /** Absolute. Tools cannot access paths outside. */
  readonly workspace: string
  /** The complete environment of commands. */
  readonly env: Readonly<Record<string, string>>
  readonly sandbox?: AgentRequest['sandbox']
}

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

export function refused(output: string): ToolResult {
  return { output, isError: true }
}
