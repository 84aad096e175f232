import type { Execution } from '../../execute/contract.ts'
import type { Detection } from '../contract.ts'
import { detectionOf } from './detection-of.ts'
import type { KnownComponents } from './known-components.ts'
import { resolveName } from './resolve-name.ts'

/** Agents by the starts of subagents. The CLI's own nameless helpers, such as the one that compacts, are nobody's. */
export function detectFromSubagents(
  { subagent_captures, trial }: Execution,
  known: KnownComponents,
): Detection[] {
  return subagent_captures.flatMap(({ agent_type, agent_id, start_timestamp }) => {
    if (agent_type === unnamed) return []
    const component = resolveName(agent_type, { list: 'agent', prefer: 'agent' }, known, trial.arm)
    if (component === null) return []
    const evidence = `subagent ${component.cli_name} started (${agent_id})`
    return [detectionOf(component, { source: 'subagent_capture', evidence, timestamp: start_timestamp })]
  })
}

/** What a capture says that was told no type. */
const unnamed = 'unknown'
