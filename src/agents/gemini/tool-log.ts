import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import { readShellOutput } from './shell-output.ts'

type Events = readonly Untimed<AgentEvent>[]

const shell = 'run_shell_command'

export interface ToolLog {
  call(line: JsonObject): Events
  result(line: JsonObject): Events
}

/** Joins tool calls with their results: a result names only the id of its call. */
export function createToolLog(): ToolLog {
  const called = new Map<string, string>()
  const answered = new Set<string>()
  return {
    call(line) {
      const id = asString(line.tool_id)
      const tool = asString(line.tool_name) ?? 'unknown'
      if (id !== undefined && called.has(id)) return []
      if (id !== undefined) called.set(id, tool)
      const command = tool === shell ? asString(asObject(line.parameters)?.command) : undefined
      return [defined({ event: 'tool_call' as const, id, tool, command, input: line.parameters })]
    },
    result(line) {
      const id = asString(line.tool_id)
      if (id !== undefined && answered.has(id)) return []
      if (id !== undefined) answered.add(id)
      const failed = line.status === 'error'
      const text = asString(line.output) ?? asString(asObject(line.error)?.message) ?? ''
      const ran = id !== undefined && called.get(id) === shell && !failed
      const { output, exitCode } = ran ? readShellOutput(text) : { output: text, exitCode: undefined }
      return [
        defined({
          event: 'tool_result' as const,
          id,
          output,
          exit_code: exitCode,
          // It calls a command a success whatever its exit code was.
          is_error: ran ? (exitCode === undefined ? undefined : exitCode !== 0) : failed,
        }),
      ]
    },
  }
}
