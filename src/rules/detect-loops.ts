import type { HookEvent } from '../core/hook-event.ts'
import type { FactName, PastCall } from '../guard-engine/contract.ts'
import { continuesCycle, cycle, oscillation } from '../guard-engine/loops/cycles.ts'
import type { Loop } from '../guard-engine/loops/loop.ts'
import { sameError, sameFailure } from '../guard-engine/loops/repeated-failures.ts'
import { callSignature } from '../guard-engine/store-event.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/** Work that goes round without getting on. Each agent's calls are looked at by themselves; a loop is named once, and again only when it went on as long once more. */
export const detectLoops: Rule = {
  name: 'detect-loops',
  on: ['tool_after'],
  wants,
  judge,
}

function wants({ event, history, settings }: Omit<Scene, 'facts'>): readonly FactName[] {
  if (event.kind !== 'tool_after' || !settings.loopDetection.enabled) return []
  const { kind } = event.call.action
  const edits: readonly FactName[] = kind === 'write' || kind === 'edit' || kind === 'patch' ? ['edited'] : []
  const calls = ownCalls(history.calls.recent, event)
  const signature = callSignature(event.call)
  const isAgain = calls.some((call) => call.signature === signature)
  const needsTree =
    event.outcome.kind === 'failure' ||
    (event.outcome.kind === 'unknown' && kind === 'shell' && isAgain) ||
    continuesCycle(calls, signature)
  return needsTree ? [...edits, 'tree'] : edits
}

function judge({ event, history, settings }: Scene): RuleAnswer | null {
  const { enabled, repeatThreshold } = settings.loopDetection
  if (!enabled || event.kind !== 'tool_after') return null
  const threshold = Math.max(2, repeatThreshold)
  const calls = ownCalls(history.calls.recent, event)
  const last = calls.at(-1)
  if (last === undefined) return null
  const found = [
    sameFailure(calls, threshold),
    sameError(calls, threshold),
    cycle(calls, threshold),
    oscillation(last, history.edits.contents, threshold),
  ].filter((loop) => loop !== null)
  const fresh = found.filter((loop) => !history.session.warned.includes(noteOf(loop, threshold)))
  const [first] = fresh
  if (first === undefined) return null
  return {
    context: `This looks like a loop: ${first.what}. ${first.advice}`,
    // One loop can be seen in several ways; it is named once.
    remember: fresh.map((loop) => ({ kind: 'warned', about: noteOf(loop, threshold) })),
  }
}

function ownCalls(recent: readonly PastCall[], event: HookEvent): readonly PastCall[] {
  return recent.filter(({ agentId }) => agentId === event.agentId)
}

function noteOf({ key, times }: Loop, threshold: number): string {
  return `loop ${key} x${Math.floor(times / threshold)}`
}
