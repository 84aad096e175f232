import { asArray, asBoolean, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'
import type { AgentEvents } from '../stream.ts'

/** Joins tool calls with their results: a result names only the id of its call. */
export function createToolLog() {
  const called = new Map<string, string>()
  const answered = new Set<string>()
  return {
    call(block: JsonObject, parent_id: string | undefined): AgentEvents {
      const id = asString(block.id)
      const tool = asString(block.name) ?? 'unknown'
      if (id !== undefined && called.has(id)) return []
      if (id !== undefined) called.set(id, tool)
      const command = tool === 'Bash' ? asString(asObject(block.input)?.command) : undefined
      return [defined({ event: 'tool_call' as const, id, tool, command, input: block.input, parent_id })]
    },
    /** `line` is the whole line of the result: the tool's own answer is next to the message. */
    result(block: JsonObject, line: JsonObject): AgentEvents {
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
    /** Denied calls that never got a result. */
    denials(list: readonly unknown[]): AgentEvents {
      return list.map(asObject).flatMap((denial): AgentEvents => {
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
 * exceptions are accepted codes (`grep` without a match), background commands and interrupted ones.
 */
function shellExitCode(output: string, isError: boolean | undefined, line: JsonObject): number | undefined {
  if (isError === true) {
    const reported = /^(?:Error: )?Exit code (\d{1,3})\b/.exec(output)
    return reported === null ? undefined : Number(reported[1])
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
