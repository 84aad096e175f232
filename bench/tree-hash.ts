import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { exec } from '../src/io/exec.ts'
import { treeHash } from '../src/io/tree-hash.ts'

const files = 20_000
const rounds = 15
const limit = 2

/** The hash of a repository of 20,000 files after one edit, against `git status --porcelain`. */
export async function treeHashBench(): Promise<{
  name: string
  limit: string
  ratio: number
  ok: boolean
  detail: Record<string, number>
}> {
  const base = mkdtempSync(join(tmpdir(), 'gantry-bench-hash-'))
  try {
    await makeRepository(base)
    const ours: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      appendFileSync(join(base, 'd7/f7.txt'), `${round}\n`)
      const runOurs = async () => ours.push(await timed(() => treeHash(base)))
      const runTheirs = async () => theirs.push(await timed(() => git(base, 'status', '--porcelain')))
      if (round % 2 === 0) await runTheirs()
      await runOurs()
      if (round % 2 === 1) await runTheirs()
    }
    const ratio = median(ours.map((ms, round) => ms / (theirs[round] ?? Number.NaN)))
    return {
      name: `hash a repository of ${files} files after one edit`,
      limit: `<= ${limit}x git status --porcelain`,
      ratio,
      ok: ratio <= limit,
      detail: { oursMs: median(ours), gitStatusMs: median(theirs), rounds },
    }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

async function makeRepository(base: string): Promise<void> {
  for (let directory = 0; directory < files / 100; directory += 1) {
    mkdirSync(join(base, `d${directory}`))
    for (let file = 0; file < 100; file += 1)
      writeFileSync(
        join(base, `d${directory}/f${file}.txt`),
        `file ${file} of ${directory}\n`.repeat(1 + (file % 20)),
      )
  }
  await git(base, 'init', '-q')
  await git(base, 'add', '-A')
  await git(base, '-c', 'user.name=bench', '-c', 'user.email=bench@example.com', 'commit', '-q', '-m', 'all')
  // Files as young as the index are read by git to be sure; a second later they are no longer.
  await sleep(1100)
  await git(base, 'status', '--porcelain')
}

async function git(cwd: string, ...args: readonly string[]): Promise<void> {
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? cwd }
  const { exitCode, stderr } = await exec({ argv: ['git', ...args], cwd, env })
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.text}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
