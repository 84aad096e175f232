import { resolve } from 'node:path'
import { z } from 'zod'
import { amountNames, type CaseFacts, createFacts } from '../core/case-facts.ts'
import type { ComparedSide } from '../core/compare-facts.ts'
import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isFile } from '../io/path-kind.ts'
import type { Store } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'

/** The results of a run in a file small enough to commit, so that CI needs no store. */
export const baselineSchema = z.strictObject({
  format: z.literal('gantry-baseline-1'),
  run_id: z.string(),
  created: z.string(),
  versions: z.record(z.string(), z.string()),
  cases: z.array(
    z.strictObject({
      case: z.string(),
      agent: z.string(),
      model: z.string(),
      caseHash: z.string().nullable(),
      trials: z.number().int().min(0),
      passes: z.number().int().min(0),
      uncounted: z.number().int().min(0),
      gates: z.array(
        z.strictObject({
          index: z.number().int(),
          type: z.string(),
          passes: z.number().int(),
          trials: z.number().int().min(1),
        }),
      ),
      meanScore: z.number().nullable(),
      means: z.record(z.enum(amountNames), z.number().nullable()),
    }),
  ),
})

export type BaselineFile = z.infer<typeof baselineSchema>

/**
 * What the user named: a run (`latest`, `latest~1`, `blessed`, an id), one agent, arm or model of a run (`RUN:NAME`), or a baseline file.
 * Throws GantryError.
 */
export async function openSide(store: Store, name: string, cwd: string): Promise<ComparedSide> {
  const path = resolve(cwd, name)
  if (isFile(path)) {
    const { run_id, cases } = readBaseline(path)
    return { name, runId: run_id, facts: cases }
  }
  const colon = name.indexOf(':')
  const wanted = colon < 0 ? name : name.slice(0, colon)
  const run = openRun(store, findRun(store, wanted, { kind: 'scenario' }))
  const { kind, status } = run.manifest()
  if (kind !== 'scenario')
    throw new GantryError('USAGE', `${run.id} is a ${kind} run, and only scenario runs can be compared`, {
      hint: 'See "gantry runs list --kind scenario".',
    })
  if (status === 'running')
    throw new GantryError('USAGE', `${run.id} has not ended`, {
      hint: `Wait for it, or finish it with "gantry test --resume ${run.id}" if it was killed.`,
    })
  const facts = await factsOf(run)
  if (facts.length === 0)
    throw new GantryError('NOT_FOUND', `${run.id} has no trials`, { hint: 'See "gantry runs list".' })
  if (colon < 0) return { name, runId: run.id, facts }
  return { name, runId: run.id, facts: chosen(facts, name.slice(colon + 1), run.id), isChosen: true }
}

async function factsOf(run: Pick<ReturnType<typeof openRun>, 'trials'>): Promise<CaseFacts[]> {
  const facts = createFacts()
  for await (const record of run.trials()) facts.add(record)
  return facts.finish()
}

function chosen(facts: readonly CaseFacts[], name: string, runId: string): readonly CaseFacts[] {
  const found = facts.filter(
    ({ agent, model }) => agent === name || model === name || `${agent}/${model}` === name,
  )
  if (found.length > 0) return found
  const names = [...new Set(facts.flatMap(({ agent, model }) => [agent, model]))].filter(
    (each) => each !== 'default',
  )
  const close = nearest(name, names)
  throw new GantryError('NOT_FOUND', `${runId} has no agent or model ${JSON.stringify(name)}`, {
    hint: close === undefined ? `It has: ${names.join(', ')}.` : `Did you mean ${close}?`,
  })
}

function readBaseline(path: string): BaselineFile {
  const refuse = (problem: string, cause?: unknown): GantryError =>
    new GantryError('INVALID_FILE', `${path} is no baseline file: ${problem}`, {
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
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw refuse(`${issue?.path.join('.') || 'its content'}: ${issue?.message ?? 'is wrong'}`)
}

/** Without anything of the machine it was made on. */
export async function baselineOf(store: Store, runId: string): Promise<BaselineFile> {
  const run = openRun(store, runId)
  const { versions, timestamp_start } = run.manifest()
  const { gantry, agents, target } = versions
  return {
    format: 'gantry-baseline-1',
    run_id: runId,
    created: timestamp_start,
    versions: { gantry, ...agents, ...(target !== null && { target }) },
    cases: (await factsOf(run)).map(({ examples, ...facts }) => ({ ...facts, gates: [...facts.gates] })),
  }
}
