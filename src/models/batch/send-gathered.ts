import { GantryError } from '../../core/error.ts'
import { atMost } from './at-most.ts'
import { awaitResults, type BatchPatience } from './await-results.ts'
import { knownBatches } from './known-batches.ts'
import type { BatchResult } from './message-batches.ts'
import { persist } from './persist.ts'
import { findBatch, type Submission, submit } from './submit.ts'
import type { WaitingCall } from './waiting-call.ts'

export interface Sending extends Omit<Submission, 'isKnown'>, BatchPatience {
  readonly minimum: number
  readonly cancelOnAbort: boolean
}

/** Ordinary calls at the same time. */
const maxOrdinary = 8

/**
 * Sees to it that every call gets its answer or its error: from a batch of an earlier process, from a new one, or in the
 * ordinary way. Never rejects.
 */
export function sendGathered(sending: Sending): (calls: readonly WaitingCall[]) => Promise<void> {
  const { name, journal, batches, minimum, signal } = sending
  const batchOf = new Map<string, string>()
  const seen = new Set<string>()
  const isKnown = (batch: string): boolean => seen.has(batch)
  let recalled: Promise<void> | null = null

  /** Reads the journal, and looks for batches of which an earlier process could not write down that they were made. */
  const recall = async (): Promise<void> => {
    const known = knownBatches(await journal.read())
    for (const batch of known.batches) seen.add(batch)
    for (const [request, batch] of known.batchOf) batchOf.set(request, batch)
    for (const attempt of known.unsure) {
      const requests = [...attempt.requests]
      const batch = await persist(name, sending, () => findBatch(attempt, { batches, isKnown, signal }))
      if (batch === null) continue
      journal.append({ kind: 'submitted', batch, requests })
      seen.add(batch)
      for (const request of requests) batchOf.set(request, batch)
    }
  }

  const follow = async (batch: string, calls: readonly WaitingCall[], isLast: boolean): Promise<void> => {
    const onLate = (): void => journal.append({ kind: 'late', batch })
    const results = await guarded(calls, true, () => awaitResults(batches, batch, sending, onLate))
    if (results === undefined) {
      if (signal.aborted && sending.cancelOnAbort) await batches.cancel(batch).catch(() => {})
      return
    }
    if (results === 'late') return askOrdinarily(calls)
    const isOurs = results !== null && calls.some(({ id }) => results.has(id))
    if (!isOurs) {
      journal.append({ kind: 'gone', batch })
      return isLast ? askOrdinarily(calls) : submitNew(calls)
    }
    await askOrdinarily(calls.filter((call) => !handOver(call, results.get(call.id))))
  }

  const submitNew = async (calls: readonly WaitingCall[]): Promise<void> => {
    const requests = new Map(calls.map(({ id, request }) => [id, request]))
    const batch = await guarded(calls, false, () => submit(requests, { ...sending, isKnown }))
    if (batch === undefined) return
    seen.add(batch)
    await follow(batch, calls, true)
  }

  return async (calls) => {
    if (calls.length === 0) return
    recalled ??= recall()
    const isRecalled = await guarded(calls, false, async () => {
      await recalled
      return true
    })
    if (isRecalled === undefined) return
    const waiting = calls.filter((call) => !call.isOver())
    const groups = Map.groupBy(waiting, ({ id }) => batchOf.get(id) ?? null)
    const fresh = groups.get(null) ?? []
    groups.delete(null)
    await Promise.all([
      ...[...groups].map(([batch, of]) =>
        batch === null
          ? undefined
          : follow(
              batch,
              of.filter((call) => call.reserve()),
              false,
            ),
      ),
      fresh.length < minimum ? askOrdinarily(fresh) : submitNew(fresh.filter((call) => call.reserve())),
    ])
  }

  /** undefined when it failed; the callers have been told. */
  async function guarded<T>(
    calls: readonly WaitingCall[],
    isBilled: boolean,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work()
    } catch (cause) {
      const error = signal.aborted
        ? new GantryError('INTERRUPTED', `stopped while asking ${name}`, { cause })
        : cause
      for (const call of calls) call.fail(error, isBilled)
      return undefined
    }
  }
}

/** false when the call has to be made in another way. */
function handOver(call: WaitingCall, result: BatchResult | undefined): boolean {
  if (result === undefined || result.kind === 'again') return call.isOver()
  call.take(result)
  return true
}

function askOrdinarily(calls: readonly WaitingCall[]): Promise<void> {
  return atMost(maxOrdinary, calls, (call) => call.askOrdinarily())
}
