import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { sum } from '../../core/sum.ts'
import type {
  GroupPause,
  RegisteredWorker,
  TrialLane,
  TrialNeed,
  TrialQueue,
  WorkerFacts,
} from './contract.ts'

/** Trials that wait for something else than a free worker. */
export interface QueueWait {
  readonly run: string
  readonly count: number
  /** A sentence without a full stop. */
  readonly why: string
}

/** Why trials of the queue, or of one run of it, do not start. */
export async function whyWaiting(queue: TrialQueue, runId?: string): Promise<QueueWait[]> {
  const lanes = (await queue.lanes()).filter(
    ({ run, waiting }) => waiting > 0 && (runId === undefined || run === runId),
  )
  if (lanes.length === 0) return []
  const workers = (await queue.workers()).filter(({ isDraining }) => !isDraining)
  const unfit = lanes.flatMap((lane) => {
    const why = noWorkerFor(lane, workers)
    return why === null ? [] : [{ run: lane.run, count: lane.waiting, why }]
  })
  const pauses = await queue.pauses()
  const waiting = pauses.length === 0 ? [] : (await queue.counts()).filter(({ state }) => state === 'queued')
  const paused = waiting.flatMap(({ run, group, count }) => {
    const pause = pauses.find((each) => each.group === '*' || each.group === group)
    const isMeant = pause !== undefined && (runId === undefined || run === runId)
    return isMeant ? [{ run, count, why: pausedText(pause) }] : []
  })
  const unpaid = (await queue.runs()).flatMap(({ id, capUsd, spentUsd, reservedUsd }) => {
    const count = sum(lanes.filter(({ run }) => run === id).map((lane) => lane.waiting))
    const isShort = capUsd !== null && reservedUsd > 0 && spentUsd + reservedUsd >= capUsd && count > 0
    return isShort
      ? [{ run: id, count, why: 'what is left of the budget is reserved by trials under way' }]
      : []
  })
  return [...unfit, ...paused, ...unpaid]
}

export type QueueStatus = Awaited<ReturnType<typeof queueStatus>>

/** The runs with their rates, what waits for what, and the workers: for the command and the page. */
export async function queueStatus(queue: TrialQueue) {
  const runs = await queue.runs()
  return {
    runs: runs.map(({ document: _, project: __, ...run }) => {
      const ended = run.planned - run.open
      const perMinute = (ended / Math.max(run.ageMs, 1)) * 60_000
      return { ...run, perMinute, leftMs: ended === 0 ? null : (run.open / perMinute) * 60_000 }
    }),
    counts: await queue.counts(),
    pauses: await queue.pauses(),
    workers: await queue.workers(),
    waits: await whyWaiting(queue),
  }
}

/** The same for people, without runs that have ended. */
export async function queueLines(queue: TrialQueue): Promise<string[]> {
  const { runs, pauses, waits, workers } = await queueStatus(queue)
  const held = sum(workers.map(({ holds }) => holds.length))
  return [
    ...runs
      .filter(({ open }) => open > 0)
      .map(({ id, planned, open, perMinute, leftMs }) => {
        const left = leftMs === null ? '' : `, about ${formatDuration(leftMs)} left`
        return `${id}: ${planned - open} of ${counted(planned, 'trial')} ended, ${perMinute.toFixed(1)} per minute${left}`
      }),
    ...pauses.map((pause) => `${pausedText(pause)}.`),
    ...waits.map(({ run, count, why }) => `${run}: ${counted(count, 'trial')} cannot start: ${why}.`),
    `${counted(workers.length, 'worker')} with ${counted(held, 'trial')} under way.`,
  ]
}

function pausedText({ group, leftMs, reason }: GroupPause): string {
  const what = group === '*' ? 'all trials are' : `trials of ${group} are`
  return `${what} paused${leftMs === null ? '' : ` for ${formatDuration(leftMs)}`}: ${reason}`
}

function noWorkerFor(lane: TrialLane, workers: readonly RegisteredWorker[]): string | null {
  if (workers.length === 0) return 'no worker is running; start one with "gantry work"'
  const reasons = workers.map((worker) => misfit(lane, worker))
  if (reasons.includes(null)) return null
  const listed = [...Map.groupBy(reasons, (reason) => reason)].map(
    ([reason, { length }]) => `${counted(length, 'worker')} ${reason}`,
  )
  return `no worker can run agent '${lane.need.agent}': ${listed.join('; ')}`
}

/** Why the worker cannot run trials of the lane, as the rest of "the worker …"; null when it can, as far as is known. */
export function misfit(
  { name, need }: { readonly name: string; readonly need: TrialNeed },
  worker: Omit<WorkerFacts, 'id' | 'host' | 'slots' | 'agents'>,
): string | null {
  const label = need.labels.find((each) => !worker.labels.includes(each))
  if (need.gantry !== worker.gantry) return `has Gantry ${worker.gantry}, not ${need.gantry}`
  if (worker.onlyAgents.length > 0 && !worker.onlyAgents.includes(need.agent))
    return `works only for ${worker.onlyAgents.join(', ')}`
  if (label !== undefined) return `has no label ${label}`
  if (need.memoryMb > worker.memoryMb) return `has ${worker.memoryMb} MB of memory, not ${need.memoryMb}`
  const refusal = worker.refusals[name]
  return refusal === undefined ? null : `refused: ${refusal}`
}
