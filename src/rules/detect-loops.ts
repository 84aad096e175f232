import type { HookEvent } from '../core/hook-event.ts'
import type { FactName, PastCall } from '../guard-engine/contract.ts'
import { continuesCycle, cycle, oscillation } from '../guard-engine/loops/cycles.ts'
import type { Loop } from '../guard-engine/loops/loop.ts'
import { repeatedError, repeatedFailure } from '../guard-engine/loops/repeated-failures.ts'
import { shellEditedPaths } from '../guard-engine/loops/shell-edits.ts'
import { callSignature, isEditing } from '../guard-engine/store-event.ts'
import type { Rule, RuleAnswer, Scene } from './contract.ts'

/**
 * Detects work that repeats without progress. Each agent's calls are checked separately. A loop is reported once, and again each time it
 * has continued for the same length.
 */
export const detectLoops: Rule = { name: 'detect-loops', on: ['tool_after'], wants, judge }

function wants({ event, history, settings }: Omit<Scene, 'facts'>): readonly FactName[] {
  if (event.kind !== 'tool_after' || !settings.loopDetection.enabled) return []
  const { action } = event.call
  const { kind } = action
  const mayEdit = isEditing(kind) || (action.kind === 'shell' && shellEditedPaths(action.command).length > 0)
  const edits: readonly FactName[] = mayEdit ? ['edited'] : []
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
    repeatedFailure(calls, threshold),
    repeatedError(calls.filter(isAttempt(history)), threshold),
    cycle(calls, threshold),
    oscillation(last, history.edits.files, threshold),
  ].filter((loop) => loop !== null)
  const fresh = found.filter((loop) => !history.session.warned.includes(noteOf(loop, threshold)))
  const [first] = fresh
  if (first === undefined) return null
  return {
    context: `This looks like a loop: ${first.what}. ${first.advice}`,
    // Several detectors can find the same loop. It is reported once.
    remember: fresh.map((loop) => ({ kind: 'warned', about: noteOf(loop, threshold) })),
  }
}

/** A look back at the files of the start, as after `git stash`, tries nothing. */
function isAttempt({ evidence: { startTree } }: Scene['history']) {
  let isPast = false
  return ({ tree }: PastCall): boolean => {
    isPast ||= tree !== null && tree !== startTree
    return !isPast || tree === null || tree !== startTree
  }
}

function ownCalls(recent: readonly PastCall[], event: HookEvent): readonly PastCall[] {
  return recent.filter(({ agentId }) => agentId === event.agentId)
}

function noteOf({ key, times }: Loop, threshold: number): string {
  return `loop ${key} x${Math.floor(times / threshold)}`
}
