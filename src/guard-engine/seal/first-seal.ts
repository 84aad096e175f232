import type { HookEvent } from '../../core/hook-event.ts'
import type { History, Note } from '../contract.ts'
import { type OwnPlace, sealedPaths } from './own-paths.ts'
import { sealFiles } from './seal-files.ts'

/**
 * For the project's ledger: when a session starts in a project that was never sealed, what is there then counts as the person's own.
 * The agent has done nothing yet. null when there is a seal, or nothing starts.
 */
export async function firstSeal(event: HookEvent, history: History, place: OwnPlace): Promise<Note | null> {
  if (event.kind !== 'session_start' || history.gate.sealed !== null) return null
  return { kind: 'sealed', files: await sealFiles(sealedPaths(place)) }
}
