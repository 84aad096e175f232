import { confidences, type Detection, type DetectionSource } from '../contract.ts'
import type { FoundComponent } from './found-component.ts'

export interface Trace {
  readonly source: DetectionSource
  /** Words a person can check. */
  readonly evidence: string
  readonly timestamp: number
  readonly tool_use_id?: string
}

export function detectionOf({ type, name, cli_name, plugin }: FoundComponent, trace: Trace): Detection {
  const { source, evidence, timestamp, tool_use_id } = trace
  return {
    component_type: type,
    name,
    cli_name,
    plugin,
    confidence: confidences[source],
    source,
    evidence,
    ...(tool_use_id !== undefined && { tool_use_id }),
    timestamp,
  }
}
