import type { z } from 'zod'
import type { Tool, ToolResult } from '../../../models/contract.ts'

/** Where the tools of one run work. */
export interface ToolPlace {
  /** Absolute. No path leads out of it. */
  readonly workspace: string
  /** The whole environment of commands. */
  readonly env: Readonly<Record<string, string>>
}

/** A tool whose own code sees its input typed. */
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

/** What the model reads when a tool failed. */
export function refused(output: string): ToolResult {
  return { output, isError: true }
}
