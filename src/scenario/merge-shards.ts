import { basename, join, relative, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { asInteger, asObject, asObjects, asStrings } from '../core/json-fields.ts'
import { createRedaction } from '../core/redaction.ts'
import { appendOnce } from '../io/append-log.ts'
import { monotonicMs } from '../io/clock.ts'
import { readTextIfExists } from '../io/directory.ts'
import { listFiles } from '../io/files.ts'
import { unpackTree } from '../io/pack-tree.ts'
import { isDirectory, isFile } from '../io/path-kind.ts'
import { readSectionHead, readSections } from '../io/section-file.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { shardBlob } from '../report/contract.ts'
import { runHeader } from '../report/finished-run.ts'
import type { LiveRun } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { storedRun } from '../store/open-run.ts'
import { readTrial } from '../store/read-trials.ts'
import { isSafeName, trialPath } from '../store/run-paths.ts'
import { createTally, finishRun, type RunResult } from './finish-run.ts'
import { storedPairs } from './judged-pairs.ts'
import type { RunContext } from './open-live-run.ts'
import type { ScenarioTrial } from './plan.ts'
import { type RunRequest, runRequestSchema } from './request.ts'

export interface MergedRun extends RunResult {
  /** As `3/5`. */
  readonly missing: readonly string[]
}

export interface MergeContext extends RunContext {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Makes one run of the shards of a run: an ordinary run, whose summary is calculated from its trials. Shards that are missing leave
 * their trials not run. Throws GantryError, and stores nothing, when the shards do not belong together.
 */
export async function mergeShards(paths: readonly string[], context: MergeContext): Promise<MergedRun> {
  using scratch = temporaryDirectory('gantry-merge-')
  const files = blobsAt(paths, context.cwd)
  const shards = files.map((file, index) => openShard(file, join(scratch.path, String(index)), context.cwd))
  const [first] = shards
  if (first === undefined) throw new Error('no shards')
  refuseDifferences(shards, first)
  refuseOverlap(shards)
  const { redaction, run } = startRun(shards, first, context)
  try {
    return await carryOver(shards, first, run, redaction, context)
  } catch (error) {
    // Half a merge is worth nothing: the blobs are still there.
    run.discard()
    run.release()
    throw error
  }
}

type Shard = ReturnType<typeof openShard>

type PlannedTrial = ScenarioTrial & { readonly key: string | null }

/** A directory stands for the blobs in it, at any depth, as CI systems unpack them. */
function blobsAt(paths: readonly string[], cwd: string): string[] {
  const files = paths.flatMap((path) => {
    const absolute = resolve(cwd, path)
    if (isFile(absolute)) return [absolute]
    if (!isDirectory(absolute))
      throw new GantryError('NOT_FOUND', `there is no directory or blob ${path}`, { hint: blobHint })
    const found = listFiles(absolute).filter((name) => name.endsWith(shardBlob.ending))
    if (found.length > 0) return found.map((name) => join(absolute, name))
    throw new GantryError('NOT_FOUND', `${path} has no blobs`, { hint: blobHint })
  })
  return [...new Set(files)]
}

const blobHint = 'Make one on every machine: gantry test --shard 1/2 --reporter blob:DIR'

/** Unpacks everything but the trials. */
function openShard(file: string, scratch: string, cwd: string) {
  const shown = relative(cwd, file)
  const refuse = (problem: string, hint: string): GantryError =>
    new GantryError('INVALID_FILE', `${shown} ${problem}`, { hint })
  const head = readSectionHead(file) ?? {}
  const format = head[shardBlob.format]
  if (format === undefined) throw refuse('is not a blob of Gantry', blobHint)
  if (format !== shardBlob.version)
    throw refuse(
      `was made by another version of Gantry (${String(head.gantry)})`,
      'Use the same version for all shards and for the merge.',
    )
  const [section] = readSections(file)
  if (section?.name !== shardBlob.run) throw refuse('has no run', blobHint)
  unpackTree(section.bytes, scratch)
  const stored = storedRun(basename(file), scratch)
  const manifest = stored.manifest()
  const plan = asObject(stored.plan())
  const request = runRequestSchema.safeParse(plan?.request)
  const identity = asObject(plan?.identity)
  if (manifest.kind !== 'scenario' || !request.success || identity === null)
    throw refuse(
      `is of a ${manifest.kind} run that cannot be merged`,
      'Only runs of "gantry test" can be merged.',
    )
  const own = asObjects(plan?.trials) as unknown as PlannedTrial[]
  const { index = 1, count = 1 } = { index: asInteger(head.index), count: asInteger(head.count) }
  return {
    file,
    /** For messages: `2/5 (blobs/shard-2-of-5.blob)`. */
    title: `${index}/${count} (${shown})`,
    index,
    count,
    stored,
    manifest,
    request: request.data,
    identity,
    /** Of all shards. */
    planned: (plan?.planned as readonly PlannedTrial[] | undefined) ?? own,
    own,
  }
}

function refuseDifferences(shards: readonly Shard[], first: Shard): void {
  for (const shard of shards) {
    const names = [...new Set([...Object.keys(first.identity), ...Object.keys(shard.identity)])]
    const differs = names.find((name) => first.identity[name] !== shard.identity[name])
    if (differs === undefined) continue
    throw new GantryError(
      'USAGE',
      `shard ${first.title} and shard ${shard.title} are not of the same run: ${differs} differs`,
      { hint: 'Run all shards with the same version, files, agents and flags.' },
    )
  }
}

function refuseOverlap(shards: readonly Shard[]): void {
  const owner = new Map<string, Shard>()
  for (const shard of shards)
    for (const { id } of shard.own) {
      const other = owner.get(id)
      owner.set(id, shard)
      if (other === undefined) continue
      throw new GantryError('USAGE', `${id} is in shard ${other.title} and in shard ${shard.title}`, {
        hint:
          other.index === shard.index
            ? 'The shard ran twice: keep one of the two blobs.'
            : 'The shards were cut by different earlier durations. Give all of them the same --baseline FILE, or none.',
      })
    }
}

function startRun(shards: readonly Shard[], first: Shard, { store, argv, cwd, env, reporter }: MergeContext) {
  const redaction = createRedaction([], env)
  const { manifest } = first
  const run = createRun(store, {
    kind: 'scenario',
    title: manifest.title,
    argv: argv.map(redaction.text),
    cwd: isDirectory(manifest.cwd) ? manifest.cwd : cwd,
    commit_sha: manifest.commit_sha,
    dirty: manifest.dirty,
    agents: manifest.versions.agents,
    target: manifest.versions.target,
    details: {
      ...(shards.every((shard) => shard.manifest.details.free === true) && { free: true }),
      merged_from: shards.map(({ index, count, manifest: { run_id } }) => ({
        run_id,
        shard: `${index}/${count}`,
      })),
    },
    onWarning: (message) => reporter.note?.({ level: 'warning', message }),
  })
  return { run, redaction }
}

async function carryOver(
  shards: readonly Shard[],
  first: Shard,
  run: LiveRun,
  redaction: ReturnType<typeof createRedaction>,
  context: MergeContext,
): Promise<MergedRun> {
  const { planned } = first
  const request = requestHere(first.request, context.cwd)
  run.writePlan({ request, identity: first.identity, trials: planned } as { trials: readonly PlannedTrial[] })
  for (const { stored } of shards)
    for (const { name, path } of stored.inputs().values()) run.freeze(name, readTextIfExists(path) ?? '')
  const header = runHeader(run, {
    title: first.manifest.title,
    trials: planned.length,
    concurrency: shards.reduce((sum, shard) => sum + shard.request.concurrency, 0),
  })
  context.reporter.runStarted?.(header)
  const tally = createTally({ request, trials: planned })
  const finished = new Set<string>()
  const isPlanned = new Set(planned.map(({ id }) => id))
  for (const { file, stored } of shards) {
    appendOnce(join(run.dir, 'events.jsonl'), readTextIfExists(join(stored.dir, 'events.jsonl')) ?? '')
    for (const { name, bytes } of readSections(file)) {
      const id = name.slice(shardBlob.trial.length)
      if (!name.startsWith(shardBlob.trial) || !isSafeName(id)) continue
      unpackTree(bytes, trialPath(run.dir, id))
      const record = isPlanned.has(id) ? readTrial(run.dir, id) : null
      if (record === null) continue
      finished.add(id)
      run.finishTrial(record)
      tally.add(record)
      context.reporter.trialEnded?.(record)
    }
  }
  const here = new Set(shards.map(({ index }) => index))
  const missing = Array.from({ length: first.count }, (_, index) => index + 1)
    .filter((index) => !here.has(index))
    .map((index) => `${index}/${first.count}`)
  const judge = first.stored.summary()?.judge
  const project = { root: request.cwd }
  const longestMs = Math.max(...shards.map(({ manifest }) => manifest.totals?.duration_ms ?? 0))
  const result = await finishRun({
    context,
    tally,
    preferences: await storedPairs(run, tally.compared, request.seed),
    prepared: { request, redaction, judge: judge === undefined ? null : { name: judge.model }, project },
    run,
    header,
    notRun: notRun(shards, planned, finished, missing),
    unjudgedUsd: 0,
    started: monotonicMs() - longestMs,
  })
  return { ...result, missing }
}

/** Paths of another machine cannot be used here. */
function requestHere(first: RunRequest, cwd: string): RunRequest {
  const { shard: _, caseMs: __, configFile, ...request } = first
  return {
    ...request,
    cwd: isDirectory(request.cwd) ? request.cwd : cwd,
    ...(configFile !== undefined && isFile(resolve(request.cwd, configFile)) && { configFile }),
  }
}

/** Planned trials without a record, and why: their shard is missing, or says so itself. */
function notRun(
  shards: readonly Shard[],
  planned: readonly PlannedTrial[],
  finished: ReadonlySet<string>,
  missing: readonly string[],
): Parameters<typeof finishRun>[0]['notRun'] {
  const owner = new Map(shards.flatMap((shard) => shard.own.map(({ id }) => [id, shard])))
  const noShard =
    missing.length > 0
      ? `shard ${missing.join(', ')} is missing`
      : 'in no shard, because the shards were cut by different earlier durations'
  return planned
    .filter(({ id }) => !finished.has(id))
    .map((spec) => {
      const shard = owner.get(spec.id)
      const why = asStrings(shard?.manifest.details.not_run)?.join('; ') ?? 'it ended before it'
      return {
        trial: { id: spec.id, title: spec.case, provider: '', spec },
        costUsd: 0,
        why: shard === undefined ? noShard : `shard ${shard.index}/${shard.count}: ${why}`,
      }
    })
}
