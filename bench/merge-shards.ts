import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSummary } from '../src/core/create-summary.ts'
import { unpackTree } from '../src/io/pack-tree.ts'
import { readSections } from '../src/io/section-file.ts'
import { reportRun } from '../src/library/report-run.ts'
import { openReportersOf } from '../src/report/open-reporters.ts'
import { mergeShards } from '../src/scenario/merge-shards.ts'
import { newRequest } from '../src/scenario/request.ts'
import { createRun } from '../src/store/create-run.ts'
import { storedRun } from '../src/store/open-run.ts'
import { openStore } from '../src/store/open-store.ts'
import { sampleRecord } from '../test/support/sample-record.ts'
import { compare, type Figure, inMemory, inTemporary } from './figure.ts'

const shards = 10
const perShard = 1_000

/** Merges ten shards, against opening each of them once and reading its trials. */
export function mergeOfShards(): Promise<Figure> {
  return inTemporary(async (directory) => {
    await writeShards(directory)
    const blobs = join(directory, 'blobs')
    return compare({
      name: 'runs merge of 10 shards of 1,000 trials',
      atMost: 2,
      baseline: 'unpacking and reading them once',
      rounds: 3,
      ours: async (round) => {
        const store = openStore({ env: {}, cwd: directory, root: join(directory, `merged-${round}`) })
        const { signal } = new AbortController()
        await mergeShards([blobs], { store, reporter: {}, signal, argv: [], cwd: directory, env: {} })
      },
      theirs: async (round) => {
        for (let index = 1; index <= shards; index += 1) {
          const to = join(directory, `read-${round}`, String(index))
          mkdirSync(join(to, 'trials'), { recursive: true })
          for (const { name, bytes } of readSections(join(blobs, `shard-${index}-of-${shards}.blob`)))
            if (name.startsWith('trial:')) unpackTree(bytes, join(to, 'trials', name.slice('trial:'.length)))
          const summary = createSummary()
          for await (const record of storedRun('shard', to).trials()) summary.add(record)
          summary.finish({ durationMs: 0 })
        }
      },
    })
  }, inMemory)
}

/** With the files of a small trial. */
async function writeShards(directory: string): Promise<void> {
  const store = openStore({ env: {}, cwd: directory, root: join(directory, 'shards') })
  const trialsOf = (shard: number) =>
    Array.from({ length: perShard }, (_, index) => {
      const number = (shard - 1) * perShard + index
      const facts = {
        case: `case ${number % 500}`,
        agent: 'a',
        model: 'm',
        attempt: Math.floor(number / 500) + 1,
      }
      return { id: `t${String(number).padStart(5, '0')}`, ...facts, key: null }
    })
  const planned = Array.from({ length: shards }, (_, index) => trialsOf(index + 1)).flat()
  for (let index = 1; index <= shards; index += 1) {
    const run = createRun(store, { kind: 'scenario', title: 'bench', argv: [], cwd: directory })
    const request = newRequest({ cwd: directory, shard: { index, count: shards } }, {})
    const trials = trialsOf(index)
    run.writePlan({ request, identity: {}, planned, trials } as { trials: typeof trials })
    for (const { key: _, ...trial } of trials) {
      const dir = run.openTrial(trial.id)
      mkdirSync(join(dir, 'fixture'))
      for (const name of [
        'events.jsonl',
        'transcript.raw.txt',
        'metrics.json',
        'run.json',
        'fixture/AGENTS.md',
        'fixture/done.txt',
      ])
        writeFileSync(join(dir, name), `${name}\n`.repeat(40))
      run.finishTrial(sampleRecord(trial.id, { ...trial, dir }))
    }
    await run.end({ status: 'pass' })
    await reportRun(
      store,
      run.id,
      await openReportersOf([`blob:${join(directory, 'blobs')}`], { env: {}, cwd: directory }),
      (value) => value,
    )
  }
}
