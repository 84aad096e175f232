import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** One figure: ours against a baseline measured in the same run, because machines are noisy and absolute times are not stable. */
export interface Figure {
  readonly name: string
  /** The promise as text. */
  readonly limit: string
  readonly ratio: number
  readonly ok: boolean
  readonly detail: Readonly<Record<string, number>>
}

export interface Comparison {
  readonly name: string
  readonly atMost: number
  /** The baseline as text. */
  readonly baseline: string
  readonly rounds: number
  readonly ours: (round: number) => unknown
  readonly theirs: (round: number) => unknown
  /** Runs before each round and is not measured. */
  readonly before?: (round: number) => unknown
}

/** Runs both sides in alternating order and takes the median of the rounds' ratios. */
export async function compare(comparison: Comparison): Promise<Figure> {
  const { name, atMost, baseline, rounds } = comparison
  const oursMs: number[] = []
  const theirsMs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await comparison.before?.(round)
    const ours = async () => oursMs.push(await timed(() => comparison.ours(round)))
    const theirs = async () => theirsMs.push(await timed(() => comparison.theirs(round)))
    for (const side of round % 2 === 0 ? [theirs, ours] : [ours, theirs]) await side()
  }
  const ratio = median(oursMs.map((ms, round) => ms / (theirsMs[round] ?? Number.NaN)))
  return {
    name,
    limit: `at most ${atMost}x ${baseline}`,
    ratio,
    ok: ratio <= atMost,
    detail: { oursMs: median(oursMs), baselineMs: median(theirsMs), rounds },
  }
}

export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[sorted.length / 2 - 1] ?? upper)) / 2
}

/** A directory for one figure. It is removed only at the end: freeing inodes slows some file systems down for minutes. */
export async function inTemporary<T>(work: (directory: string) => Promise<T>, parent = tmpdir()): Promise<T> {
  const directory = mkdtempSync(join(parent, 'gantry-bench-'))
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * In memory if possible, for figures whose baseline does not use the disk. On ext4, creating a file takes ten times as long in the
 * minutes after thousands were deleted, for example by the figure before.
 */
export const inMemory: string = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
