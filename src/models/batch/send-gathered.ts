import { forEachLimited } from '../../core/for-each-limited.ts'
import { interruption } from '../model-error.ts'
import { backoffMs, type CallRetryPolicy } from '../retry.ts'
import { type BatchedCall, type Patience, persist } from './batched-call.ts'
import { type BatchJournal, knownBatches } from './journal.ts'
import type { BatchRequest, BatchResult, MessageBatches } from './message-batches.ts'

export interface BatchSending extends Omit<Submission, 'isKnown'>, BatchPatience {
  readonly minimum: number
  readonly cancelOnAbort: boolean
}

/** Concurrent ordinary calls. */
const maxOrdinary = 8

/**
 * Gets an answer or an error for every call: from a batch of an earlier process, from a new one, or by an ordinary call. Never rejects.
 */
export function sendGathered(sending: BatchSending): (calls: readonly BatchedCall[]) => Promise<void> {
  const { name, journal, batches, minimum, signal } = sending
  const batchOf = new Map<string, string>()
  const seen = new Set<string>()
  const isKnown = (batch: string): boolean => seen.has(batch)
  let recalled: Promise<void> | null = null

  /** Reads the journal, and looks for batches that an earlier process created but could not record. */
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

  const follow = async (batch: string, calls: readonly BatchedCall[], isLast: boolean): Promise<void> => {
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

  const submitNew = async (calls: readonly BatchedCall[]): Promise<void> => {
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
    const affordable = (of: readonly BatchedCall[]) => of.filter((call) => call.reserve())
    await Promise.all([
      ...[...groups].map(([batch, of]) =>
        batch === null ? undefined : follow(batch, affordable(of), false),
      ),
      fresh.length < minimum ? askOrdinarily(fresh) : submitNew(affordable(fresh)),
    ])
  }

  /** undefined when it failed; the callers have been notified. */
  async function guarded<T>(
    calls: readonly BatchedCall[],
    isBilled: boolean,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await work()
    } catch (cause) {
      const error = signal.aborted ? interruption(name, cause) : cause
      for (const call of calls) call.fail(error, isBilled)
      return undefined
    }
  }
}

/** false when an ordinary call is needed. */
function handOver(call: BatchedCall, result: BatchResult | undefined): boolean {
  if (result === undefined || result.kind === 'again') return call.isOver()
  call.take(result)
  return true
}

function askOrdinarily(calls: readonly BatchedCall[]): Promise<void> {
  return forEachLimited(maxOrdinary, calls, (call) => call.askOrdinarily())
}

interface BatchPatience extends Patience {
  /** The polling interval; null means five seconds at first, a minute later. */
  readonly pollMs: number | null
  /** How long to wait for a batch before it is cancelled; null means without limit. */
  readonly timeoutMs: number | null
}

const polling: CallRetryPolicy = { attempts: Infinity, firstWaitMs: 5_000, longestWaitMs: 60_000 }

/** A cancelled batch ends soon, and the answers it has until then are billed, so wait for them a little. */
const graceMs = 60_000

/**
 * Waits for a batch and reads the outcome of its requests; null when the provider no longer knows the batch, `late`
 * when it took too long, was cancelled, and did not end soon after.
 */
async function awaitResults(
  batches: MessageBatches,
  batch: string,
  patience: BatchPatience,
  onLate: () => void,
): Promise<ReadonlyMap<string, BatchResult> | null | 'late'> {
  const { signal, timeoutMs } = patience
  let state = await waitFor(batches, batch, patience, timeoutMs ?? Infinity)
  if (state === 'pending') {
    onLate()
    // It may have just ended, and then cannot be cancelled.
    await batches.cancel(batch).catch(() => {})
    state = await waitFor(batches, batch, patience, graceMs)
  }
  if (state === 'pending') return 'late'
  if (state === 'gone') return null
  return persist(batch, patience, async () => {
    const results = new Map<string, BatchResult>()
    for await (const result of batches.results(batch, signal)) results.set(result.id, result)
    return results
  })
}

/** `pending` when the batch has not ended after this many milliseconds. It is polled at least once. */
async function waitFor(
  batches: MessageBatches,
  batch: string,
  patience: BatchPatience,
  mostMs: number,
): Promise<'pending' | 'ended' | 'gone'> {
  const { sleep, random, signal, pollMs } = patience
  let waitedMs = 0
  for (let polls = 0; ; polls += 1) {
    const state = await persist(batch, patience, () => batches.state(batch, signal))
    if (state !== 'pending' || waitedMs >= mostMs) return state
    const waitMs = Math.min(pollMs ?? backoffMs(polls, polling, random), mostMs - waitedMs)
    await sleep(waitMs, signal)
    waitedMs += waitMs
  }
}

interface Submission extends Patience {
  readonly batches: MessageBatches
  readonly journal: BatchJournal
  readonly name: string
  readonly now: () => Date
  /** Batches known to belong to other requests. */
  readonly isKnown: (batch: string) => boolean
}

/** Clocks differ: a batch may seem to have been created shortly before it was submitted. */
const skewMs = 5 * 60_000

/** Submits requests and returns the batch. The journal entries written on the way let a later process find it. */
async function submit(requests: ReadonlyMap<string, BatchRequest>, submission: Submission): Promise<string> {
  const { batches, journal, name, now, signal } = submission
  const ids = [...requests.keys()]
  const at = now().toISOString()
  journal.append({ kind: 'submitting', at, requests: ids })
  let isFirst = true
  const batch = await persist(name, submission, async () => {
    // A failed call may have reached the server: a second one would be paid twice.
    const found = isFirst ? null : await findBatch({ at, requests: ids }, submission)
    isFirst = false
    return found ?? (await batches.submit(requests, signal))
  })
  journal.append({ kind: 'submitted', batch, requests: ids })
  return batch
}

/** The batch of requests that were possibly submitted; null when no batch matches. */
async function findBatch(
  { at, requests }: { readonly at: string; readonly requests: readonly string[] },
  { batches, isKnown, signal }: Pick<Submission, 'batches' | 'isKnown' | 'signal'>,
): Promise<string | null> {
  const from = new Date(Date.parse(at) - skewMs).toISOString()
  const candidates = await batches.find(from, requests.length, signal)
  return candidates.find((batch) => !isKnown(batch)) ?? null
}
