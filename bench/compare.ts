import { execFileSync } from 'node:child_process'
import { compareFacts } from '../src/core/compare-facts.ts'
import { seededRandom } from '../src/core/random.ts'
import { compareMeans } from '../src/core/stats/compare-cases.ts'
import { openSide } from '../src/scenario/open-side.ts'
import type { Store } from '../src/store/contract.ts'
import { createRun } from '../src/store/create-run.ts'
import { openRun } from '../src/store/open-run.ts'
import { openStore } from '../src/store/open-store.ts'
import { sampleRecord } from '../test/support/sample-record.ts'
import { compare, type Figure, inMemory, inTemporary, median, timed } from './figure.ts'

const cases = 1_000

/** Reads and compares two stored runs, against only reading both. */
export function compareRuns(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const store = openIn(directory)
    const ids = await storeBoth(store, 10)
    return compare({
      name: 'compare two runs of 10,000 trials',
      atMost: 3,
      baseline: 'reading both results once',
      rounds: 5,
      ours: () => compareStored(store, ids),
      theirs: async () => {
        for (const id of ids) for await (const _ of openRun(store, id).trials());
      },
    })
  }, inMemory)
}

/** Peak memory must not grow with the number of trials. */
export function compareMemory(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const store = openIn(directory)
    const peakOf = async (attempts: number): Promise<number> => {
      const flags = [import.meta.filename, directory, ...(await storeBoth(store, attempts))]
      return Number(String(execFileSync(process.execPath, flags))) / 1024
    }
    const [baselineMb, oursMb] = [await peakOf(1), await peakOf(10)]
    const ratio = oursMb / baselineMb
    return {
      name: 'peak memory of comparing two runs of 10,000 trials',
      limit: 'at most 1.3x that of 1,000',
      ratio,
      ok: ratio <= 1.3,
      detail: { oursMb, baselineMb },
    }
  }, inMemory)
}

/** The permutation test with 10,000 draws. */
export async function permutationTest(): Promise<Figure> {
  const random = seededRandom(1)
  const differences = Array.from({ length: cases }, () => Math.round((random() - 0.48) * 10) / 10)
  const times: number[] = []
  for (let round = 0; round < 5; round += 1)
    times.push(await timed(() => compareMeans(differences, round + 1)))
  const ms = median(times)
  return {
    name: 'permutation test over 1,000 cases',
    limit: 'at most 300 ms',
    ratio: ms / 300,
    ok: ms <= 300,
    detail: { ms },
  }
}

function openIn(root: string): Store {
  return openStore({ env: {}, cwd: root, root })
}

async function compareStored(store: Store, [before = '', after = '']: readonly string[]): Promise<void> {
  const sides = [await openSide(store, before, '/'), await openSide(store, after, '/')] as const
  compareFacts(...sides, { margin: 0.05, seed: 1 })
}

async function storeBoth(store: Store, attempts: number): Promise<readonly string[]> {
  return [await storeRun(store, attempts, 0.6), await storeRun(store, attempts, 0.63)]
}

async function storeRun(store: Store, attempts: number, rate: number): Promise<string> {
  const random = seededRandom(rate * 100)
  const run = createRun(store, { kind: 'scenario', title: 'bench', argv: ['gantry'], cwd: '/' })
  const trials = Array.from({ length: cases * attempts }, (_, index) => ({
    id: `t${index}`,
    case: `case ${index % cases}`,
    agent: 'mine',
    model: 'default',
    attempt: Math.floor(index / cases) + 1,
  }))
  run.writePlan({ trials })
  for (const trial of trials)
    run.finishTrial(
      sampleRecord(trial.id, {
        ...trial,
        verdict: random() < rate ? 'pass' : 'fail',
        dir: run.trialDir(trial.id),
      }),
    )
  await run.end({ status: 'fail' })
  return run.id
}

// Runs in its own process to measure its memory. Must stay last in the file: it uses everything above.
if (import.meta.main) {
  const [root = '', ...ids] = process.argv.slice(2)
  await compareStored(openIn(root), ids)
  console.log(process.resourceUsage().maxRSS)
}
