import { dirname, extname, join } from 'node:path'
import { loadProject } from '../config/load.ts'
import { GantryError } from '../core/error.ts'
import { asObject } from '../core/json-fields.ts'
import { exactRate } from '../core/stats/exact-rate.ts'
import {
  correctedRate,
  type JudgeAgreement,
  judgeAgreement,
  type LabelledScore,
} from '../core/stats/judge-agreement.ts'
import { biasOf, type JudgedPair, winnerOf } from '../core/stats/preference.ts'
import type { JudgeTrust } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { isCounted } from '../core/verdict.ts'
import { readTextIfExists } from '../io/directory.ts'
import { readHeadAndTail } from '../io/read-head.ts'
import { sha256 } from '../io/sha256.ts'
import { appendLabels, type Label, labelsFile, readLabels } from '../judge/labels.ts'
import type { Store } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { findTrial } from '../store/find-trial.ts'
import { listRuns } from '../store/list-runs.ts'
import { openRun } from '../store/open-run.ts'
import { readTrial, trialIds } from '../store/read-trials.ts'
import { storedPair } from './judged-pairs.ts'
import { refuseDamaged } from './open-side.ts'
import { trialPlace } from './trial-work.ts'

export interface GivenLabel {
  readonly run: string
  /** Id of the trial, or the beginning of it. */
  readonly trial: string
  readonly label: 'pass' | 'fail'
  readonly note?: string
}

/** The labels to store. Throws GantryError when a run or a trial does not exist, before anything is written. */
async function labelTrials(store: Store, given: readonly GivenLabel[], at: Date): Promise<Label[]> {
  const labels: Label[] = []
  for (const [runName, ofRun] of Map.groupBy(given, ({ run }) => run)) {
    const run = openRun(store, findRun(store, runName, { kind: 'scenario' }))
    const ids = trialIds(run.dir)
    for (const each of ofRun) {
      const trial = findTrial(ids, each.trial, run.id)
      const record = await refuseDamaged(run.id, () => readTrial(run.dir, trial))
      if (record === null) throw new GantryError('USAGE', `${trial} of ${run.id} has not ended`)
      const { judge } = record
      labels.push({
        content: contentOf(run.checkpointOf(record.id, 'agent'), record),
        case: record.case,
        label: each.label,
        ...(each.note !== undefined && each.note !== '' && { note: each.note }),
        run: run.id,
        trial: record.id,
        ...(judge !== null && {
          judge: { model: judge.model, passed: judge.passed, score: judge.weighted_score },
        }),
        at: at.toISOString(),
      })
    }
  }
  return labels
}

/** Adds labels to the file of the project, or none of them. */
export async function storeLabels(store: Store, given: readonly GivenLabel[], cwd: string) {
  const path = join(loadProject(cwd).root, labelsFile)
  // After a line that is not a label no other would be read.
  readLabels(path)
  const labels = await labelTrials(store, given, store.clock.now())
  appendLabels(path, labels)
  return { labels, path }
}

export function projectLabels(cwd: string): ReadonlyMap<string, Label> {
  return readLabels(join(loadProject(cwd).root, labelsFile))
}

/** The result of a trial: its final message and what it changed, else all it printed. */
export function contentOf(agent: unknown, record: Pick<TrialRecord, 'case' | 'prompt' | 'dir'>): string {
  const { diff, transcript } = trialPlace(record.dir)
  const text = asObject(asObject(agent)?.outcome)?.finalText
  const changes = readTextIfExists(diff)
  const work = text == null && changes === null ? readHeadAndTail(transcript, 1e6) : [text ?? null, changes]
  return sha256(JSON.stringify([record.case, record.prompt ?? null, work])).slice(0, 16)
}

/** `run,trial,label,note` with a heading, or the same as lines of JSON. Throws GantryError with the line. */
export function parseLabels(text: string, path: string): readonly GivenLabel[] {
  const rows = extname(path).toLowerCase() === '.csv' ? csvRows(text) : jsonRows(text, path)
  const hint =
    'A .csv begins with the line "run,trial,label,note"; other files have lines of JSON with these keys.'
  if (rows.length === 0) throw new GantryError('INVALID_FILE', `${path} has no labels`, { hint })
  return rows.map(({ line, value }) => {
    const { run, trial, note } = value
    const label = typeof value.label === 'string' ? value.label.trim().toLowerCase() : null
    const isLabel = label === 'pass' || label === 'fail'
    if (typeof run === 'string' && typeof trial === 'string' && isLabel && run !== '' && trial !== '')
      return { run, trial, label, ...(typeof note === 'string' && { note }) }
    throw new GantryError('INVALID_FILE', `${path}:${line}: a label needs a run, a trial, and pass or fail`, {
      at: { file: path, line },
      hint,
    })
  })
}

interface Row {
  readonly line: number
  readonly value: Readonly<Record<string, unknown>>
}

function jsonRows(text: string, path: string): Row[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return []
    try {
      return [{ line: index + 1, value: asObject(JSON.parse(line)) ?? {} }]
    } catch (cause) {
      throw new GantryError('INVALID_FILE', `${path}:${index + 1}: not a line of JSON`, { cause })
    }
  })
}

/** RFC 4180: fields with commas, quotes or line breaks are quoted. */
function csvRows(text: string): Row[] {
  const rows: { line: number; fields: string[] }[] = []
  let [line, isOpen] = [1, false]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (!isOpen) rows.push({ line, fields: [] })
    rows.at(-1)?.fields.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    isOpen = end === ','
    line += (quoted?.split('\n').length ?? 1) - 1 + (end === ',' ? 0 : 1)
    if (end === '') break
  }
  const [heading, ...body] = rows
  return body
    .filter((row) => row.fields.some((field) => field !== ''))
    .map((row) => ({
      line: row.line,
      value: Object.fromEntries(
        (heading?.fields ?? []).map((name, index) => [name.trim(), row.fields[index] ?? '']),
      ),
    }))
}

export interface JudgeCalibration extends JudgeAgreement {
  readonly model: string
  /** Of all its answers in the runs that were looked at. */
  readonly cost_usd: number
  /** Of the trials it judged: the share that it passed, and the share that is good if its errors are what the labels show. */
  readonly judged: number
  readonly pass_rate: number | null
  readonly corrected_pass_rate: ReturnType<typeof correctedRate>
  /** Of a judge that compared answers: what order and length decide, and how often it prefers the one of two that is labelled good. */
  readonly pairwise: ReturnType<typeof pairwiseOf> | null
}

/** With what the labels say about both. */
type LabelledPair = JudgedPair & { readonly areGood: readonly [boolean | null, boolean | null] }

interface FoundJudge {
  readonly pairs: Map<string, LabelledScore>
  judged: number
  passed: number
  costUsd: number
  readonly compared: LabelledPair[]
}

/** Every judge of the runs against the labels; what the labels themselves know of judges counts too. */
export async function calibrateJudges(
  store: Store,
  labels: ReadonlyMap<string, Label>,
  wanted: readonly string[],
  seed: number,
): Promise<JudgeCalibration[]> {
  const ids =
    wanted.length > 0
      ? wanted.map((name) => findRun(store, name, { kind: 'scenario' }))
      : (await listRuns(store, { kind: 'scenario' })).runs.map(({ id }) => id).reverse()
  const judges = new Map<string, FoundJudge>()
  const judgeOf = (model: string): FoundJudge => {
    const found = judges.get(model) ?? {
      pairs: new Map(),
      judged: 0,
      passed: 0,
      costUsd: 0,
      compared: [],
    }
    judges.set(model, found)
    return found
  }
  for (const { content, label, judge } of wanted.length > 0 ? [] : labels.values())
    if (judge !== undefined) judgeOf(judge.model).pairs.set(content, { ...judge, isGood: label === 'pass' })
  const cases = new Set([...labels.values()].map((label) => label.case))
  const look = async (id: string): Promise<void> => {
    const run = openRun(store, id)
    const isRegraded = run.manifest().details.regraded_from !== undefined
    const isGood = (record: Pick<TrialRecord, 'id' | 'case' | 'prompt' | 'dir'>): boolean | null => {
      const given = labels.get(contentOf(run.checkpointOf(record.id, 'agent'), record))?.label
      return given === undefined ? null : given === 'pass'
    }
    for await (const record of run.trials()) {
      const { judge, cachedFrom } = record
      const pair = storedPair(record.dir)
      const isCopy = pair?.run !== id || (cachedFrom !== null && pair.costUsd === 0)
      if (pair !== null && !(isCopy && ids.includes(cachedFrom ?? pair.run))) {
        const found = judgeOf(pair.model)
        if (!isCopy) found.costUsd += pair.costUsd ?? 0
        const earlier = { ...record, id: pair.trials[0], dir: join(dirname(record.dir), pair.trials[0]) }
        found.compared.push({ ...pair, areGood: [isGood(earlier), isGood(record)] })
      }
      if (judge === null || !isCounted(record.verdict)) continue
      const found = judgeOf(judge.model)
      const isAsked =
        cachedFrom === null || (isRegraded && run.checkpointOf(record.id, 'judge-1') !== undefined)
      if (isAsked) found.costUsd += judge.costUsd ?? 0
      // A copy of a trial that is looked at too is not another trial.
      if (isAsked || !ids.includes(cachedFrom)) {
        found.judged += 1
        if (judge.passed) found.passed += 1
      }
      if (!cases.has(record.case)) continue
      const content = contentOf(run.checkpointOf(record.id, 'agent'), record)
      const label = labels.get(content)
      if (label === undefined) continue
      const { passed, weighted_score: score } = judge
      found.pairs.set(content, { passed, score, isGood: label.label === 'pass' })
    }
  }
  for (const id of ids)
    await refuseDamaged(id, () => look(id)).catch((error: unknown) => {
      // A damaged run of long ago says nothing about the judge.
      if (wanted.length > 0 || !(error instanceof GantryError)) throw error
    })
  return [...judges].map(([model, { pairs, judged, passed, costUsd, compared }]) => {
    const agreement = judgeAgreement([...pairs.values()], seed)
    return {
      model,
      ...agreement,
      cost_usd: costUsd,
      judged,
      pass_rate: judged === 0 ? null : passed / judged,
      corrected_pass_rate: correctedRate(passed, judged, agreement.confusion, seed),
      pairwise: compared.length === 0 ? null : pairwiseOf(compared),
    }
  })
}

/**
 * What `gantry judge calibrate` knows of a judge, for reports. Labels and runs that cannot be read are none: they must not cost a run its
 * results.
 */
export async function judgeTrust(store: Store, model: string, root: string): Promise<JudgeTrust> {
  try {
    const labels = readLabels(join(root, labelsFile))
    const judges = labels.size === 0 ? [] : await calibrateJudges(store, labels, [], 1)
    const found = judges.find((judge) => judge.model === model)
    return { model, labels: found?.labels ?? 0, kappa: found?.kappa?.value ?? null }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { model, labels: 0, kappa: null }
  }
}

function pairwiseOf(pairs: readonly LabelledPair[]) {
  const told = pairs.filter((pair) => {
    const [before, after] = pair.areGood
    return before !== null && after !== null && before !== after && winnerOf(pair) !== 'tie'
  })
  const right = told.filter((pair) => pair.areGood[winnerOf(pair) === 'before' ? 0 : 1] === true)
  return { pairs: pairs.length, ...biasOf(pairs), prefers_good: exactRate(right.length, told.length) }
}
