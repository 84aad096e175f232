import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asInteger, asObject, asString, defined, type JsonObject } from '../../core/json-fields.ts'

type Events = readonly Untimed<AgentEvent>[]

const shells: readonly string[] = ['bash', 'powershell', 'local_shell']

export interface ToolLog {
  started(data: JsonObject, line: JsonObject): Events
  /** A piece of what a command printed. */
  printed(data: JsonObject, line: JsonObject): void
  completed(data: JsonObject, line: JsonObject): Events
  /** A tool call has started a subagent. */
  subagent(data: JsonObject, line: JsonObject): void
  /** The call that started the subagent this line is about; undefined for the main agent. */
  parentOf(data: JsonObject, line: JsonObject): string | undefined
}

/** Joins tool calls with their results, and subagents with the calls that started them. */
export function createToolLog(): ToolLog {
  const called = new Set<string>()
  const answered = new Set<string>()
  const outputs = new Map<string, string[]>()
  const printedLines = new Set<string>()
  const starters = new Map<string, string>()

  const parentOf = (data: JsonObject, line: JsonObject): string | undefined =>
    asString(data.parentToolCallId) ?? starters.get(asString(line.agentId) ?? '')

  return {
    started(data, line) {
      const id = asString(data.toolCallId)
      if (id !== undefined && called.has(id)) return []
      if (id !== undefined) called.add(id)
      const name = asString(data.toolName) ?? 'unknown'
      const server = asString(data.mcpServerName)
      return [
        defined({
          event: 'tool_call' as const,
          id,
          tool: server === undefined ? name : `${server}.${asString(data.mcpToolName) ?? name}`,
          command: shells.includes(name) ? asString(asObject(data.arguments)?.command) : undefined,
          input: data.arguments,
          parent_id: parentOf(data, line),
        }),
      ]
    },
    printed(data, line) {
      const id = asString(data.toolCallId)
      const text = asString(data.text)
      const lineId = asString(line.id)
      if (id === undefined || text === undefined || answered.has(id)) return
      if (lineId !== undefined && printedLines.has(lineId)) return
      if (lineId !== undefined) printedLines.add(lineId)
      const pieces = outputs.get(id) ?? []
      pieces.push(text)
      outputs.set(id, pieces)
    },
    completed(data, line) {
      const id = asString(data.toolCallId)
      if (id !== undefined && answered.has(id)) return []
      if (id !== undefined) answered.add(id)
      const exit_code = asInteger(asObject(data.shellExecution)?.exitCode)
      const printed = id === undefined ? undefined : outputs.get(id)?.join('')
      if (id !== undefined) outputs.delete(id)
      return [
        defined({
          event: 'tool_result' as const,
          id,
          output: printed ?? resultText(data),
          exit_code,
          is_error: data.success === false || (exit_code !== undefined && exit_code !== 0),
          parent_id: parentOf(data, line),
        }),
      ]
    },
    subagent(data, line) {
      const agent = asString(line.agentId)
      const call = asString(data.toolCallId)
      if (agent !== undefined && call !== undefined) starters.set(agent, call)
    },
    parentOf,
  }
}

/** Behind what a command printed Copilot puts a line for the model. */
function resultText(data: JsonObject): string {
  const text = asString(asObject(data.result)?.content) ?? asString(asObject(data.error)?.message) ?? ''
  return text.replace(/\n?<shellId: \S+ completed with exit code -?\d+>$/, '')
}
