import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asArray, asBoolean, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'

type Events = readonly Untimed<AgentEvent>[]

export interface ToolLog {
  call(block: JsonObject, parentId: string | undefined): Events
  /** `line` is the whole line the result came in: what the tool itself answered stands beside the message. */
  result(block: JsonObject, line: JsonObject): Events
  /** Denied calls that never got a result. */
  denials(list: readonly unknown[]): Events
}

/** Joins tool calls with their results: a result names only the id of its call. */
export function createToolLog(): ToolLog {
  const called = new Map<string, string>()
  const answered = new Set<string>()
  return {
    call(block, parent_id) {
      const id = asString(block.id)
      const tool = asString(block.name) ?? 'unknown'
      if (id !== undefined && called.has(id)) return []
      if (id !== undefined) called.set(id, tool)
      const command = tool === 'Bash' ? asString(asObject(block.input)?.command) : undefined
      return [defined({ event: 'tool_call' as const, id, tool, command, input: block.input, parent_id })]
    },
    result(block, line) {
      const id = asString(block.tool_use_id)
      if (id !== undefined && answered.has(id)) return []
      if (id !== undefined) answered.add(id)
      const output = textOf(block.content)
      const is_error = asBoolean(block.is_error)
      const shell = id !== undefined && called.get(id) === 'Bash'
      return [
        defined({
          event: 'tool_result' as const,
          id,
          output,
          exit_code: shell && !wasNotRun(line, id) ? shellExitCode(output, is_error, line) : undefined,
          is_error,
          parent_id: asString(line.parent_tool_use_id),
        }),
      ]
    },
    denials(list) {
      return list.map(asObject).flatMap((denial): Events => {
        const id = asString(denial?.tool_use_id)
        if (id === undefined || answered.has(id)) return []
        answered.add(id)
        return [{ event: 'tool_result', id, output: 'The call was denied.', is_error: true }]
      })
    },
  }
}

function wasNotRun(line: JsonObject, id: string): boolean {
  return asArray(line.tool_result_meta).some((entry) => {
    const meta = asObject(entry)
    return meta?.id === id && meta.non_execution_kind !== undefined
  })
}

/**
 * Claude Code marks a command as an error exactly when its exit code is not 0, with the code in the first line. The
 * exceptions are codes it explains away (`grep` without a match), commands in the background and interrupted ones.
 */
function shellExitCode(output: string, isError: boolean | undefined, line: JsonObject): number | undefined {
  if (isError === true) {
    const told = /^(?:Error: )?Exit code (\d{1,3})\b/.exec(output)
    return told === null ? undefined : Number(told[1])
  }
  const own = asObject(line.tool_use_result)
  const certain =
    isError === false &&
    own?.interrupted !== true &&
    own?.backgroundTaskId === undefined &&
    own?.returnCodeInterpretation === undefined
  return certain ? 0 : undefined
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return asArray(content)
    .map((part) => asString(asObject(part)?.text) ?? `[${asString(asObject(part)?.type) ?? 'unknown'}]`)
    .join('\n')
}
