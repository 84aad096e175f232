import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import type { GantryEvent } from '../../core/event.ts'
import { asObject, isObject, parseJson } from '../../core/json-fields.ts'
import { searchLine } from '../../core/search-line.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { gateEvidence, type PlacedCall, placedCall } from '../../gates/gate-evidence.ts'
import { bytesOf } from '../../io/directory.ts'
import { lineBefore, openLines, readLinesFrom } from '../../io/line-file.ts'
import { type ListFilesOptions, listFiles } from '../../io/list-files.ts'
import { readHead } from '../../io/read-head.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { type Label, labelsFile, readLabels } from '../../judge/labels.ts'
import { splitDiff } from '../../report/split-diff.ts'
import { contentOf } from '../../scenario/label-trials.ts'
import { commandWords } from '../../shell/quote-word.ts'
import { listRuns } from '../../store/list-runs.ts'
import { openRun } from '../../store/open-run.ts'
import { readTrial, trialIds } from '../../store/read-trials.ts'
import { type ApiAnswer, ok, problem } from '../answer.ts'
import { guardOfTrial } from '../guard/guard-handlers.ts'
import type { GuardMoment } from '../guard/guard-routes.ts'
import { begunTrials, plannedTrials, promptOf } from './begun-trials.ts'
import type { RunHandlerOptions, RunHandlers } from './contract.ts'

type TrialHandlers = Pick<
  RunHandlers,
  'getTrial' | 'trialEvidence' | 'trialEvents' | 'searchTrial' | 'trialDiff' | 'trialFile'
>

const pageBytes = 256 * 1024
/** A longer line is shown by its beginning only. */
const maxLineBytes = 2 * 1024 * 1024
const maxTextChars = 8_000
const maxDiffBytes = 16 * 1024 * 1024
const maxFileBytes = 1024 * 1024
const maxFiles = 2_000
const maxHits = 200
/** Of each kind. The rest of a longer log is not linked to gates. */
const maxCalls = { tool_call: 20_000, target_call: 20_000, gate: 1_000, model_call: 5_000 }
const maxModelCallBytes = 8 * 1024
const searchSliceBytes = 64 * 1024 * 1024

/** What the page of one trial is made of. Nothing here reads a whole log into memory. */
export function trialView({ store, project }: RunHandlerOptions): TrialHandlers {
  const placeOf = (runId: string, trialId: string) => {
    const run = openRun(store, runId)
    const dir = run.trialDir(trialId)
    const size = bytesOf(dir)
    if (size === null) throw new GantryError('NOT_FOUND', `${runId} has no trial ${trialId}`)
    return { run, dir, log: join(dir, 'events.jsonl') }
  }
  const labelOf = (content: string) => {
    const labels = project === null ? new Map<string, Label>() : readLabels(join(project, labelsFile))
    const found = labels.get(content)
    return found === undefined ? null : { label: found.label, note: found.note ?? null }
  }
  /** `more` is null for a diff that is too large to be read. */
  const diffOf = (
    dir: string,
  ): Omit<ReturnType<typeof splitDiff>, 'more'> & { readonly more: number | null } => {
    const path = join(dir, 'workspace.diff')
    const text = readShortText(path, maxDiffBytes)
    if (text === null && bytesOf(path) !== null) return { files: [], more: null }
    return splitDiff(text ?? '')
  }
  return {
    getTrial: async ({ run: runId, trial }) => {
      const { run, dir, log } = placeOf(runId, trial)
      const { runs } = await listRuns(store, { only: runId })
      const { record, why } = recordOf(run.dir, trial)
      const ids = trialIds(run.dir)
      const at = ids.indexOf(trial)
      const headers = record === null ? plannedTrials(run).filter(({ id }) => id === trial) : []
      const [begun = null] = begunTrials(run, headers, new Set())
      const { files: changed, more } = diffOf(dir)
      const environment = parseJson(readShortText(join(dir, 'run.json'), maxFileBytes) ?? '')
      return ok({
        run: runs[0],
        trial_id: trial,
        record,
        begun,
        prompt: record?.prompt ?? (begun === null ? null : promptOf(run, begun.case)),
        problem: why,
        dir,
        files: filesOf(dir),
        changes: changed.map(({ path, added, removed, lines }) => ({ path, added, removed, lines })),
        more_changes: more,
        log_bytes: bytesOf(log) ?? 0,
        scenario: record === null ? null : scenarioOf(run.inputs(), record.file),
        environment: isObject(environment) ? environment : null,
        neighbours: { previous: ids[at - 1] ?? null, next: ids[at + 1] ?? null },
        label: record === null ? null : labelOf(contentOf(run.checkpointOf(trial, 'agent'), record)),
        command: record === null ? '' : commandWords(again(runs[0]?.kind, runId, record)),
      })
    },
    trialEvidence: async ({ run: runId, trial }) => {
      const { run, dir, log } = placeOf(runId, trial)
      const { record } = recordOf(run.dir, trial)
      const named = (record?.gates ?? []).flatMap(({ detail: { path } }) =>
        typeof path === 'string' ? path : [],
      )
      const { events, modelCalls } = await callsIn(log, named)
      const gates = gateEvidence(record?.gates ?? [], {
        events,
        changed: diffOf(dir).files.map(({ path }) => path),
        lineOf: (path, text) => lineOf(join(dir, 'fixture'), path, text),
      })
      const guard = guardOfTrial({ dir, run: runId, trial }).map(({ row, moments }) => ({
        row,
        moments: moments.map((moment) => ({ ...moment, event_at: placeIn(events, moment) })),
      }))
      return ok({ gates, model_calls: modelCalls, guard })
    },
    trialEvents: ({ run, trial, query: { from, before, limit, whole } }) => {
      const { log } = placeOf(run, trial)
      const size = bytesOf(log)
      if (size === null) return ok({ events: [], next: 0, bytes: 0 })
      const isWhole = whole === 'true'
      const begin = before === undefined ? (from ?? 0) : lineBefore(log, Math.min(before, size), pageBytes)
      const page = readLinesFrom(log, {
        from: begin,
        maxLines: limit,
        maxBytes: before === undefined ? pageBytes : Math.max(1, before - begin),
        maxLineBytes: isWhole ? 32 * maxLineBytes : maxLineBytes,
      })
      const events = (page?.lines ?? []).map(({ offset, length, text, isCut }) => {
        const event = isCut ? null : parseJson(text)
        if (!isObject(event))
          return { at: offset, bytes: length, event: null, head: text.slice(0, 2_000), cut: isCut }
        const cut = { count: 0 }
        const shown = isWhole ? event : shortened(event, cut)
        return { at: offset, bytes: length, event: shown, head: null, cut: cut.count > 0 }
      })
      return ok({ events, next: page?.next ?? 0, bytes: page?.bytes ?? 0 })
    },
    searchTrial: async ({ run, trial, query: { text, from } }) => {
      const { log } = placeOf(run, trial)
      return ok(await searchLog(log, text, { from, maxHits, maxBytes: searchSliceBytes }))
    },
    trialDiff: ({ run, trial, query: { path } }) => {
      const { dir } = placeOf(run, trial)
      const { files, more } = diffOf(dir)
      if (more === null) return problem(404, 'too_large', 'the diff of the trial is too large to be shown')
      const wanted = path === undefined ? files : files.filter((file) => file.path === path)
      if (path !== undefined && wanted.length === 0)
        return problem(404, 'not_found', `the trial did not change ${JSON.stringify(path)}`)
      const left = path !== undefined || more === 0 ? '' : `# ${counted(more, 'more file')} changed\n`
      return {
        kind: 'text',
        type: 'text/x-diff; charset=utf-8',
        text: `${wanted.map((file) => file.text).join('')}${left}`,
      }
    },
    trialFile: ({ run, trial, query: { path } }) => {
      const { dir } = placeOf(run, trial)
      return fileAnswer(dir, path)
    },
  }
}

function recordOf(runDir: string, trial: string) {
  try {
    return { record: readTrial(runDir, trial), why: null }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { record: null, why: error.message }
  }
}

/** The scenario as it was when the run began. */
function scenarioOf(inputs: ReadonlyMap<string, { readonly path: string }>, file: string) {
  const frozen =
    inputs.get(file) ?? [...inputs].find(([name]) => name.endsWith(file) || file.endsWith(name))?.[1]
  const text = frozen === undefined ? null : readShortText(frozen.path, maxFileBytes)
  return text === null ? null : { file, text }
}

/** Events that gates rest on. Other lines are not parsed, and other requests are answered in between, because a log may be large. */
async function callsIn(log: string, paths: readonly string[]) {
  const events: PlacedCall[] = []
  const modelCalls: { readonly at: number; readonly event: unknown }[] = []
  const file = openLines(log, 120)
  if (file === null) return { events, modelCalls }
  try {
    const left = { ...maxCalls }
    let [lines, turnAt] = [0, 0]
    for (const { head, ...span } of file.spans()) {
      lines += 1
      if (lines % 500 === 0 || span.offset > turnAt) {
        await turn()
        turnAt = span.offset + pageBytes
      }
      const kind = /"event":"(tool_call|target_call|gate|model_call)"/.exec(head)?.[1] as keyof typeof left
      const limit = kind === 'model_call' ? maxModelCallBytes : maxLineBytes
      if (kind === undefined || left[kind] === 0 || span.length > limit) continue
      const event = parseJson(file.read(span))
      if (!isObject(event)) continue
      left[kind] -= 1
      if (kind === 'model_call') modelCalls.push({ at: span.offset, event })
      events.push(placedCall(span.offset, event as unknown as GantryEvent, paths))
    }
    return { events, modelCalls }
  } finally {
    file.close()
  }
}

/** The tool call that the guard judged, or what happened last before it. */
function placeIn(events: readonly PlacedCall[], { call_id: id, at }: GuardMoment): number | null {
  const isCall = (call: PlacedCall) => call.event === 'tool_call' && id !== null && call.id === id
  const isBefore = ({ ts }: PlacedCall) => ts * 1_000 <= Date.parse(at)
  return (events.find(isCall) ?? events.findLast(isBefore))?.at ?? null
}

/** The beginning of a file below a directory of the store. */
export function fileAnswer(dir: string, path: string): ApiAnswer {
  const where = resolveInside(dir, path)
  const head = where.kind === 'inside' ? readHead(where.path, maxFileBytes) : null
  if (head?.kind !== 'text') return problem(404, 'not_found', 'there is no such file')
  return { kind: 'text', type: 'text/plain; charset=utf-8', text: head.text }
}

export function filesOf(dir: string, exclude: ListFilesOptions['exclude'] = () => false) {
  return listFiles(dir, { exclude })
    .slice(0, maxFiles)
    .flatMap((path) => {
      const bytes = bytesOf(join(dir, path))
      return bytes === null ? [] : { path, bytes }
    })
}

function lineOf(workspace: string, path: string, text: string): number | null {
  const where = resolveInside(workspace, path)
  const content = where.kind === 'inside' ? readShortText(where.path, maxFileBytes) : null
  const at = content?.indexOf(text) ?? -1
  return content === null || at < 0 ? null : content.slice(0, at).split('\n').length
}

/** The event with its long texts cut. */
function shortened(value: unknown, cut: { count: number }): unknown {
  if (typeof value === 'string') {
    if (value.length <= maxTextChars) return value
    cut.count += 1
    return `${value.slice(0, maxTextChars).toWellFormed()}…`
  }
  if (Array.isArray(value)) return value.map((one) => shortened(one, cut))
  const object = asObject(value)
  if (object === null) return value
  return Object.fromEntries(Object.entries(object).map(([key, one]) => [key, shortened(one, cut)]))
}

/** Lines of a log with a text, from a position on, until one of the limits is reached. Other requests are answered in between. */
export async function searchLog(
  log: string,
  text: string,
  { from, maxHits, maxBytes }: { readonly from: number; readonly maxHits: number; readonly maxBytes: number },
) {
  const hits: { at: number; excerpt: string }[] = []
  let next = from
  for (;;) {
    const page = readLinesFrom(log, { from: next, maxLines: 5_000, maxBytes: 4 * 1024 * 1024, maxLineBytes })
    if (page === null || page.lines.length === 0) return { hits, next: null }
    for (const { offset, text: line } of page.lines) {
      const excerpt = searchLine(line, text)
      if (excerpt !== null) hits.push({ at: offset, excerpt })
    }
    next = page.next
    if (hits.length >= maxHits || next - from > maxBytes) return { hits, next }
    await turn()
  }
}

/** The command that makes a trial again. A scenario of a plugin has no file of its own. */
function again(kind: string | undefined, runId: string, { file, agent }: TrialRecord): readonly string[] {
  return kind === 'plugin'
    ? ['gantry', 'plugin', 'run', '--fast', '--failed-run', runId]
    : ['gantry', 'test', file, '--agent', agent]
}
