import type { Execution, ToolCapture } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import { succeeded, type ToolOutcomes } from './correlation.ts'
import { detectionOf } from './detection-of.ts'
import type { KnownComponents } from './known-components.ts'
import { toolComponent } from './tool-component.ts'

/** What the session's own hooks saw being called. A call that failed started nothing; one of unknown end counts and says so. */
export function detectFromCaptures(
  { detected_tools, trial }: Execution,
  outcomes: ToolOutcomes,
  known: KnownComponents,
): Detection[] {
  return detected_tools.flatMap((capture) => {
    const ended = succeeded(capture, outcomes)
    const component = ended === false ? null : toolComponent(capture, known, trial.arm)
    if (component === null) return []
    const { timestamp, tool_use_id } = capture
    const evidence = `tool ${capture.name} called for ${component.cli_name}${where(capture)}${ended === null ? unknownEnd : ''}`
    return [detectionOf(component, { source: 'tool_capture', evidence, timestamp, tool_use_id })]
  })
}

const unknownEnd = ', and nothing tells how the call ended'

function where({ agent_id, agent_type }: ToolCapture): string {
  if (agent_id === undefined) return ''
  return ` inside subagent ${agent_type ?? agent_id}`
}
