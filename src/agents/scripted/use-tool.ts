import { defined } from '../../core/json-fields.ts'
import type { Stage } from './stage.ts'

export interface ToolUse {
  readonly tool: string
  readonly command?: string | undefined
  readonly input: unknown
  /** Does it. What it answers is what the agent reports. */
  perform(): Promise<ToolAnswer> | ToolAnswer
}

export interface ToolAnswer {
  readonly output: string
  readonly exitCode?: number | undefined
  readonly isError?: boolean | undefined
  readonly durationMs?: number | undefined
}

/** One use of a tool with its two events. A hook that denies it keeps it from being performed. */
export async function useTool(stage: Stage, { tool, command, input, perform }: ToolUse): Promise<void> {
  const { emit, hooks } = stage.request
  const id = stage.nextToolId()
  emit(defined({ event: 'tool_call' as const, id, tool, command, input }))
  const decision = await stage.halt.race(hooks?.beforeTool?.({ id, tool, input }))
  if (stage.halt.cause() !== null) return
  if (decision?.kind === 'deny') {
    emit({ event: 'tool_result', id, output: decision.reason, is_error: true })
    stage.print(`${tool} was denied: ${decision.reason}\n`)
    return
  }
  const { output, exitCode, isError, durationMs } = await perform()
  emit(
    defined({
      event: 'tool_result' as const,
      id,
      output,
      exit_code: exitCode,
      is_error: isError,
      duration_secs: durationMs === undefined ? undefined : durationMs / 1_000,
    }),
  )
  const told = await stage.halt.race(
    hooks?.afterTool?.({
      id,
      tool,
      input,
      output,
      ...(exitCode !== undefined && { exitCode }),
      ...(isError !== undefined && { isError }),
    }),
  )
  if (told) stage.print(`${told}\n`)
}
