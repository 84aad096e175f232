import type { AgentOutcome } from '../../agents/contract.ts'
import type { ModelUsage } from '../../core/trial.ts'
import { type Captures, newSheet, readSheet } from './captures/capture-sheet.ts'
import type { Execution, TranscriptError, TranscriptEvent } from './contract.ts'

export interface PluginAttempt {
  readonly outcome: AgentOutcome
  readonly captures: Captures
  readonly events: readonly TranscriptEvent[]
  readonly errors: readonly TranscriptError[]
  readonly turns: number
  readonly usage: readonly ModelUsage[]
  readonly changes: Execution['workspace_changes']
  /** The files that graders of the case read. */
  readonly keptFiles?: Execution['kept_files']
  readonly termination: Execution['termination_type']
  readonly durationMs: number
  /** Milliseconds since the epoch, so that an attempt survives JSON. */
  readonly startedAtMs: number
  readonly needsRecording: boolean
  /** The wait that the provider requested; null when it requested none. */
  readonly retryAfterMs: number | null
  readonly warnings: readonly string[]
  /** Earlier attempts have failed already. */
  readonly isHopeless?: boolean
}

/** An attempt in which no prompt was sent because the case or the infrastructure was broken. It cost nothing. */
export function attemptWithoutPrompt(
  why: Pick<AgentOutcome, 'failure' | 'invalid'> &
    Partial<Pick<PluginAttempt, 'needsRecording' | 'isHopeless'>>,
  startedAtMs: number,
): PluginAttempt {
  const { failure, invalid, needsRecording = false, isHopeless = false } = why
  return {
    outcome: {
      ending: 'not_started',
      exitCode: null,
      finalText: null,
      costUsd: 0,
      tokens: null,
      failure,
      ...(invalid !== undefined && { invalid }),
    },
    captures: readSheet(newSheet()),
    events: [],
    errors: [],
    turns: 0,
    usage: [],
    changes: [],
    termination: 'error',
    durationMs: 0,
    startedAtMs,
    needsRecording,
    retryAfterMs: null,
    warnings: [],
    isHopeless,
  }
}

/** How a scenario ended. An agent that stopped by itself ended cleanly, even if it failed afterwards. */
export function terminationOf(
  { ending, failure, exitCode }: AgentOutcome,
  { stopSeen, isAlive }: { readonly stopSeen: boolean; readonly isAlive: boolean },
): Execution['termination_type'] {
  if (stopSeen) return 'clean'
  if (ending === 'timed_out') return isAlive ? 'interrupted' : 'timeout'
  if (ending === 'exited') return failure === null && exitCode === 0 ? 'clean' : 'error'
  return ending === 'crashed' || ending === 'not_started' ? 'error' : 'interrupted'
}
