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
const attempts = 10

/** Reads and compares two stored runs, against only reading both. */
export function compareRuns(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const store = openStore({ env: {}, cwd: directory, root: directory })
    const ids = [await storeRun(store, 0.6, 1), await storeRun(store, 0.63, 2)]
    return compare({
      name: 'compare two runs of 10,000 trials',
      atMost: 3,
      baseline: 'reading both results once',
      rounds: 5,
      ours: async () => {
        const [before, after] = [
          await openSide(store, ids[0] ?? '', '/'),
          await openSide(store, ids[1] ?? '', '/'),
        ]
        compareFacts(before, after, { margin: 0.05, seed: 1 })
      },
      theirs: async () => {
        for (const id of ids) for await (const _ of openRun(store, id).trials());
      },
    })
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

async function storeRun(store: Store, rate: number, seed: number): Promise<string> {
  const random = seededRandom(seed)
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
