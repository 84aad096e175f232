import { resolve } from 'node:path'
import { z } from 'zod'
import { amountNames, type CaseFacts, createFacts } from '../core/case-facts.ts'
import { type ComparedSide, factsNamed } from '../core/compare-facts.ts'
import { GantryError } from '../core/error.ts'
import { asObject } from '../core/json-fields.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isFile } from '../io/path-kind.ts'
import type { RunStatus, Store, StoredRun } from '../store/contract.ts'
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
      })
      .refine(isPossible, impossible),
  ),
})

export type BaselineFile = z.infer<typeof baselineSchema>

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
  const side = baselineSide(resolve(cwd, wanted))
  if (colon < 0) return { name, ...side }
  return { name, ...side, facts: factsNamed(side.facts, name.slice(colon + 1), wanted), isChosen: true }
}

/** The same for a run or a part of it only: no file is read that the name leads to. */
export async function openRunSide(store: Store, name: string): Promise<ComparedSide> {
  const [wanted = '', ...rest] = name.split(':')
  const side = await runSide(store, wanted)
  if (rest.length === 0) return { name, ...side }
  return { name, ...side, facts: factsNamed(side.facts, rest.join(':'), side.runId), isChosen: true }
}

type Side = Omit<ComparedSide, 'name' | 'isChosen'>

function baselineSide(path: string): Side {
  const { run_id, cases } = readBaseline(path)
  return { runId: run_id, facts: cases }
}

/** A run, without a choice in it. */
export async function runSide(store: Store, wanted: string): Promise<Side> {
  const [run, facts] = await comparedRun(store, findRun(store, wanted, { kind: 'scenario' }))
  const doubt = [
    doubts[run.manifest().status] ?? [],
    requestOf(run)?.untilDecided === true
      ? 'stopped when it was decided, and only its own report allows for that'
      : [],
  ].flat()
  if (facts.length === 0)
    throw new GantryError('NOT_FOUND', `${run.id} has no trials`, { hint: 'See "gantry runs list".' })
  return { runId: run.id, facts, ...(doubt.length > 0 && { doubt: doubt.join(' and ') }) }
}

function requestOf(run: StoredRun) {
  return asObject(asObject(run.plan())?.request)
}

/** Runs whose results may say something else when they are complete. */
const doubts: Partial<Record<RunStatus, string>> = {
  infra: 'had many infrastructure failures',
  interrupted: 'was interrupted',
  partial: 'is partial',
}

/** A scenario run that has ended, with what is read from it. Throws GantryError for any other, and for one that is damaged. */
export async function readEnded<Read>(
  store: Store,
  runId: string,
  read: (run: StoredRun) => Promise<Read>,
): Promise<readonly [run: StoredRun, read: Read]> {
  const refuse = (problem: string, hint: string): GantryError =>
    new GantryError('USAGE', `${runId} ${problem}`, { hint })
  try {
    const run = openRun(store, runId)
    const { kind, status, details } = run.manifest()
    if (kind !== 'scenario')
      throw refuse(`is a ${kind} run, which has no scenarios`, 'See "gantry runs list --kind scenario".')
    const from = details.regraded_from
    const again = from === undefined ? `test --resume ${runId}` : `runs regrade ${from}`
    if (status === 'running')
      throw refuse('has not ended', `Wait for it; if it was killed, go on with "gantry ${again}".`)
    return [run, await read(run)]
  } catch (cause) {
    if (!(cause instanceof GantryError) || cause.code !== 'CORRUPT') throw cause
    throw new GantryError('INVALID_FILE', `${runId} cannot be used: ${cause.message}`, {
      hint: 'Run its trials again, or name another run.',
      cause,
    })
  }
}

function comparedRun(store: Store, runId: string): Promise<readonly [StoredRun, CaseFacts[]]> {
  return readEnded(store, runId, async (run) => {
    if (requestOf(run)?.only !== undefined)
      throw new GantryError(
        'USAGE',
        `${runId} has only trials that failed before, so it would look better or worse than it is`,
        { hint: 'Compare complete runs: start one without --rerun-failed.' },
      )
    const facts = createFacts()
    for await (const record of run.trials()) facts.add(record)
    return facts.finish()
  })
}

function readBaseline(path: string): BaselineFile {
  const refuse = (problem: string, cause?: unknown): GantryError =>
    new GantryError('INVALID_FILE', `${path} is not a baseline file: ${problem}`, {
      hint: 'Write one with "gantry runs bless RUN --to FILE".',
      cause,
    })
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

/** Without anything of the machine it was made on. */
export async function baselineOf(store: Store, runId: string): Promise<BaselineFile> {
  const [run, cases] = await comparedRun(store, runId)
  const { versions, timestamp_start } = run.manifest()
  const { gantry, agents, target } = versions
  return {
    format: 'gantry-baseline-1',
    run_id: runId,
    created: timestamp_start,
    versions: { gantry, ...agents, ...(target !== null && { target }) },
    cases: cases.map(({ examples, ...facts }) => ({ ...facts, gates: [...facts.gates] })),
  }
}
