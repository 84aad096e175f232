import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyTree } from '../src/io/copy-tree.ts'
import { exec } from '../src/io/exec.ts'

const files = 10_000
const rounds = 5
const limit = 1.5

/** Copying 10,000 small files, against `cp -r`. Pairs are run side by side, first one ahead, then the other. */
export async function copyTreeBench(): Promise<{
  name: string
  limit: string
  ratio: number
  ok: boolean
  detail: Record<string, number>
}> {
  const base = mkdtempSync(join(tmpdir(), 'gantry-bench-copy-'))
  try {
    const source = join(base, 'source')
    makeSource(source)
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      // A fresh target every time, removed only in the end: freeing blocks slows some disks down for seconds.
      const runOurs = async () => ours.push(await timed(() => copyTree(source, join(base, `ours-${round}`))))
      const runTheirs = async () => theirs.push(await timed(() => cp(source, join(base, `theirs-${round}`))))
      if (round % 2 === 0) await runTheirs()
      await runOurs()
      if (round % 2 === 1) await runTheirs()
    }
    const ratio = median(ours.map((ms, round) => ms / (theirs[round] ?? Number.NaN)))
    return {
      name: `copy ${files} files`,
      limit: `<= ${limit}x cp -r`,
      ratio,
      ok: ratio <= limit,
      detail: { oursMs: median(ours), cpMs: median(theirs), rounds },
    }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function makeSource(source: string): void {
  for (let directory = 0; directory < files / 50; directory += 1) {
    mkdirSync(join(source, `d${directory}`), { recursive: true })
    for (let file = 0; file < 50; file += 1)
      writeFileSync(join(source, `d${directory}/f${file}.txt`), 'x'.repeat(200 + ((directory * file) % 4000)))
  }
}

async function cp(from: string, to: string): Promise<void> {
  const { exitCode } = await exec({
    argv: ['cp', '-r', from, to],
    cwd: from,
    env: { PATH: process.env.PATH ?? '' },
  })
  if (exitCode !== 0) throw new Error('cp failed')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
