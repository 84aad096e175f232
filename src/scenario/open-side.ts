import { join, resolve } from 'node:path'
import { z } from 'zod'
import { amountNames, createFacts } from '../core/case-facts.ts'
import { type ComparedSide, sideNamed } from '../core/compare-facts.ts'
import { GantryError } from '../core/error.ts'
import { asObject, asString } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import { writeJsonAtomic } from '../io/files.ts'
import { isDirectory, isFile, isMissing } from '../io/path-kind.ts'
import type { Store, StoredRun } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'

const counts = { trials: z.number().int().min(0).max(1e6), passes: z.number().int().min(0) }
const isPossible = ({ passes, trials }: { readonly passes: number; readonly trials: number }): boolean =>
  passes <= trials
const impossible = 'there are more passes than trials'

/** The results of a run in a file small enough to commit, so that CI needs no store. */
export const baselineSchema = z.strictObject({
  format: z.literal('gantry-baseline-1'),
  run_id: z.string(),
  created: z.string(),
  versions: z.record(z.string(), z.string()),
  /** What makes comparisons with the run doubtful, such as that it was interrupted. */
  doubt: z.string().optional(),
  cases: z.array(
    z
      .strictObject({
        case: z.string(),
        agent: z.string(),
        model: z.string(),
        caseHash: z.string().nullable(),
        ...counts,
        uncounted: z.number().int().min(0),
        gates: z.array(
          z
            .strictObject({ index: z.number().int().min(0), type: z.string(), ...counts })
            .refine(isPossible, impossible),
        ),
        meanScore: z.number().nullable(),
        means: z.record(z.enum(amountNames), z.number().min(0).nullable()),
        /** Attempts that other runs made, by run. */
        copied: z.record(z.string(), z.array(z.number())).optional(),
      })
      .refine(isPossible, impossible),
  ),
})

type BaselineFile = z.infer<typeof baselineSchema>

/**
 * What the user named: a run (`latest`, `latest~1`, `blessed`, an id), one agent, arm or model of a run (`RUN:NAME`), or a baseline file.
 * Throws GantryError.
 */
export async function openSide(store: Store, name: string, cwd: string): Promise<ComparedSide> {
  const isBaseline = (text: string): boolean =>
    !/^(?:latest|blessed)(?:~\d+)?$/.test(text) && isFile(resolve(cwd, text))
  const colon = isBaseline(name) ? -1 : name.indexOf(':')
  const wanted = colon < 0 ? name : name.slice(0, colon)
  if (!isBaseline(wanted)) return openRunSide(store, name)
  return sideNamed(name, baselineSide(resolve(cwd, wanted)), colon < 0 ? '' : name.slice(colon + 1))
}

/** The same for a run or a part of it only: no file is read that the name leads to. */
export async function openRunSide(store: Store, name: string): Promise<ComparedSide> {
  const [wanted = '', ...rest] = name.split(':')
  return sideNamed(name, await runSide(store, wanted), rest.join(':'))
}

type Side = Omit<ComparedSide, 'name' | 'isChosen'>

function baselineSide(path: string): Side {
  const { run_id, cases, doubt } = readBaseline(path)
  const facts = cases.map(({ copied = {}, ...rest }) => {
    const copies = Object.entries(copied).flatMap(([run, of]) => of.map((attempt) => ({ run, attempt })))
    return { ...rest, ...(copies.length > 0 && { copies }) }
  })
  return { runId: run_id, facts, ...(doubt !== undefined && { doubt }) }
}

/** A run, without a choice in it. */
export async function runSide(store: Store, wanted: string): Promise<Side> {
  const [run, { facts, trials }] = await comparedRun(store, findRun(store, wanted, { kind: 'scenario' }))
  const { status, details } = run.manifest()
  const planned = run.plan()?.trials.length ?? trials
  const doubt = [
    status === 'infra' ? 'had many infrastructure failures' : [],
    status === 'interrupted' ? 'was interrupted' : [],
    trials < planned && details.decided !== true
      ? `has results of only ${trials} of ${planned} planned trials`
      : status === 'partial'
        ? 'is partial'
        : [],
    requestOf(run)?.untilDecided === true
      ? 'stopped when it was decided, and only its own report allows for that'
      : [],
  ].flat()
  if (facts.length === 0)
    throw new GantryError('NOT_FOUND', `${run.id} has no trials`, { hint: 'See "gantry runs list".' })
  return {
    runId: run.id,
    facts,
    ...(doubt.length > 0 && { doubt: doubt.join(' and ') }),
    ...(details.regraded_from !== undefined && { isRegraded: true }),
  }
}

function requestOf(run: StoredRun) {
  return asObject(asObject(run.plan())?.request)
}

/** A scenario run that has ended, with what is read from it. Throws GantryError for any other, and for one that is damaged. */
export async function readEnded<Read>(
  store: Store,
  runId: string,
  read: (run: StoredRun) => Promise<Read>,
): Promise<readonly [run: StoredRun, read: Read]> {
  const refuse = (problem: string, hint: string): GantryError =>
    new GantryError('USAGE', `${runId} ${problem}`, { hint })
  return refuseDamaged(runId, async () => {
    const run = openRun(store, runId)
    const { kind, status, details } = run.manifest()
    if (kind !== 'scenario')
      throw refuse(`is a ${kind} run, which has no scenarios`, 'See "gantry runs list --kind scenario".')
    const from = details.regraded_from
    const again = from === undefined ? `test --resume ${runId}` : `runs regrade ${from}`
    if (status === 'running')
      throw refuse('has not ended', `Wait for it; if it was killed, go on with "gantry ${again}".`)
    return [run, await read(run)]
  })
}

/** A damaged run that the user named is a wrong argument, not a failure of the machine. */
export async function refuseDamaged<Read>(runId: string, read: () => Promise<Read> | Read): Promise<Read> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof GantryError) || cause.code !== 'CORRUPT') throw cause
    throw new GantryError('INVALID_FILE', `${runId} cannot be used: ${cause.message}`, {
      hint: 'Run its trials again, or name another run.',
      cause,
    })
  }
}

function comparedRun(store: Store, runId: string) {
  return readEnded(store, runId, async (run) => {
    if (requestOf(run)?.only !== undefined)
      throw new GantryError(
        'USAGE',
        `${runId} has only trials that failed before, so it would look better or worse than it is`,
        { hint: 'Compare complete runs: start one without --rerun-failed.' },
      )
    const facts = createFacts()
    const makers = await makersOf(store, run)
    let trials = 0
    for await (const record of run.trials()) {
      trials += 1
      facts.add(
        makers === null ? record : { ...record, cachedFrom: makers.get(record.id) ?? record.cachedFrom },
      )
    }
    return { facts: facts.finish(), trials }
  })
}

/** The runs in which the agents of a run that was graded again worked, by trial; null for any other run. */
async function makersOf(store: Store, run: StoredRun): Promise<ReadonlyMap<string, string> | null> {
  const from = asString(run.manifest().details.regraded_from)
  if (from === undefined || !isDirectory(join(store.runsDir, from))) return null
  const old = openRun(store, from)
  const earlier = await makersOf(store, old)
  const makers = new Map<string, string>()
  for await (const { id, cachedFrom } of old.trials())
    makers.set(id, earlier?.get(id) ?? cachedFrom ?? old.id)
  return makers
}

function readBaseline(
  path: string,
  hint = 'Write one with "gantry runs bless RUN --to FILE".',
): BaselineFile {
  const refuse = (problem: string, cause?: unknown): GantryError =>
    new GantryError('INVALID_FILE', `${path} is not a baseline file: ${problem}`, { hint, cause })
  let json: unknown
  try {
    json = JSON.parse(readTextIfExists(path) ?? '')
  } catch (cause) {
    throw refuse('it cannot be read as JSON', cause)
  }
  const parsed = baselineSchema.safeParse(json)
  if (parsed.success) {
    const names = parsed.data.cases.map((each) => JSON.stringify([each.case, each.agent, each.model]))
    if (new Set(names).size < names.length) throw refuse('a case of one agent and model is in it twice')
    return parsed.data
  }
  const [issue] = parsed.error.issues
  throw refuse(`${issue?.path.join('.') || 'its content'}: ${issue?.message ?? 'is wrong'}`)
}

/** Writes the results of a run, without anything of the machine it was made on. Replaces only another baseline file. */
export async function writeBaseline(store: Store, runId: string, path: string): Promise<void> {
  const { facts, doubt } = await runSide(store, runId)
  const { versions, timestamp_start } = openRun(store, runId).manifest()
  const { gantry, agents, target } = versions
  if (isDirectory(path))
    throw new GantryError('USAGE', `${path} is a directory`, {
      hint: 'Name a file in it, such as baseline.json.',
    })
  if (!isMissing(path))
    readBaseline(path, 'Only a baseline file is replaced: name another one, or remove it.')
  const file: BaselineFile = {
    format: 'gantry-baseline-1',
    run_id: runId,
    created: timestamp_start,
    versions: { gantry, ...agents, ...(target !== null && { target }) },
    ...(doubt !== undefined && { doubt }),
    cases: facts.map(({ examples, own, copies = [], ...rest }) => {
      const byRun = [...Map.groupBy(copies, (copy) => copy.run)]
      const copied = byRun.map(([run, of]) => [run, of.map(({ attempt }) => attempt)] as const)
      return {
        ...rest,
        gates: [...rest.gates],
        ...(copied.length > 0 && { copied: Object.fromEntries(copied) }),
      }
    }),
  }
  writeJsonAtomic(path, file)
}
