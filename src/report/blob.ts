import { join } from 'node:path'
import { asObject } from '../core/json-fields.ts'
import { namesIn } from '../io/directory.ts'
import { readJsonIfExists } from '../io/files.ts'
import { packTree } from '../io/pack-tree.ts'
import { type FileSection, writeSections } from '../io/section-file.ts'
import { type FinishedRun, type ReporterFactory, shardBlob } from './contract.ts'

/** The whole run as one file in a directory, named for its shard. `gantry runs merge` makes one run of several. */
export const blobReporter: ReporterFactory = ({ path }) => ({
  runEnded: async (run) => {
    const plan = asObject(readJsonIfExists(join(run.runDir, 'plan.json')))
    const { index = 1, count = 1 } = asObject(asObject(plan?.request)?.shard) ?? {}
    const finished = new Set<string>()
    for await (const { id } of run.records()) finished.add(id)
    const head = {
      [shardBlob.format]: shardBlob.version,
      gantry: run.version,
      run_id: run.runId,
      index,
      count,
    }
    const name = `shard-${index}-of-${count}${shardBlob.ending}`
    writeSections(join(path ?? '', name), head, sectionsOf(run, finished))
  },
})

/** Not in a blob: what belongs to the process, what is made again from the trials, and the trials, which have sections of their own. */
const leftOut = new Set(['lock', 'manifest.lock', 'trials.jsonl', 'trials', 'reports'])
/** Attempts that have no record, but a cost. */
const putAside = /\.(?:infra|over-budget|interrupted)-\d+$/

function* sectionsOf({ runDir }: FinishedRun, finished: ReadonlySet<string>): Generator<FileSection> {
  yield { name: shardBlob.run, bytes: packTree(runDir, (name) => leftOut.has(name)) }
  for (const name of namesIn(join(runDir, 'trials')).sort())
    if (finished.has(name) || putAside.test(name))
      yield { name: `${shardBlob.trial}${name}`, bytes: packTree(join(runDir, 'trials', name)) }
}
