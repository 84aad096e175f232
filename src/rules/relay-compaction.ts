import { preservedState } from '../guard-engine/context/preserved-state.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Hands the state over a compaction. Before it nothing may be said, since that would steer the summary: the state is only
 * remembered, and told when the session starts again.
 */
export const relayCompaction: Rule = {
  name: 'relay-compaction',
  on: ['compact_before', 'session_start'],
  wants: (scene) => (isRelayed(scene) ? ['tree'] : []),
  judge: (scene) => (isRelayed(scene) ? relayed(scene) : null),
}

function isRelayed({ event }: Omit<Scene, 'facts'>): boolean {
  return event.kind === 'compact_before' || (event.kind === 'session_start' && event.source !== 'startup')
}

function relayed(scene: Scene): RuleAnswer {
  const { event, history, settings } = scene
  const saved = event.kind === 'session_start' && event.source === 'compact' ? history.session.relay : null
  // Not every agent tells that it is about to compact: the ledger knows as much afterwards.
  const text = saved ?? preservedState(scene)
  const remember = [{ kind: 'relay', text }] as const
  return settings.contextInjection.enabled && isTold(scene) ? { context: text, remember } : { remember }
}

/** A resumed session has its conversation back and is told its state among the other facts. */
function isTold({ event, history }: Scene): boolean {
  if (event.kind !== 'session_start') return false
  if (event.source === 'compact') return true
  return event.source === 'clear' && (history.tasks.phase !== 'idle' || history.calls.total > 0)
}
