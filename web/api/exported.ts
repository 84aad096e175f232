import { exportedName } from '../../src/core/exported-name.ts'
import { searchLine } from '../../src/core/search-line.ts'
import { selectRuns } from '../../src/core/select-runs.ts'
import { selectTrials, type TrialSelection } from '../../src/core/select-trials.ts'
import { addressOf, answered, exported, Failure, type Given, type Name } from './client.ts'
import {
  addresses,
  type ComparisonList,
  type EventPage,
  type Run,
  type RunList,
  type RunRow,
  type RunSearch,
  type SearchResult,
  type Trend,
  type TrialList,
  type TrialRow,
} from './operations.ts'

type Words = Readonly<Record<string, string | undefined>>

/** The same answers from files. What a server would choose, count or compare is done here. */
export async function readExported<N extends Name>(
  name: N,
  given: Given<N>,
  signal?: AbortSignal,
): Promise<unknown> {
  if (addresses[name][0] !== 'GET')
    throw new Failure(405, 'exported', 'This is an exported copy: nothing can be changed here.', null)
  const { offset = '0', limit = '100', ...words } = (given.query ?? {}) as Words
  const page = <T>(found: readonly T[]): T[] => found.slice(Number(offset), Number(offset) + Number(limit))
  const { run = '', trial = '' } = (given.path ?? {}) as Words
  if (name === 'listTrials') {
    const { descending, ...selection } = words
    const found = selectTrials(await trialsOf(run, signal), {
      ...(selection as TrialSelection),
      descending: descending === 'true',
    })
    return { trials: page(found), total: found.length } satisfies TrialList
  }
  if (name === 'listRuns') {
    const { runs, names } = await allRuns(signal)
    const { agent, model, tag, case: wanted, ...selection } = words
    const found = selectRuns(await having(runs, { agent, model, tag, case: wanted }, signal), selection)
    return { runs: page(found), total: found.length, names } satisfies RunList
  }
  if (name === 'trends') return await trends(words, signal)
  if (name === 'compare') return await comparison(words, signal)
  if (name === 'trialEvents') return await eventsOf(run, trial, words, signal)
  if (name === 'searchTrial')
    return await hitsOf(run, trial, words.text ?? '', 200, signal, Number(words.from ?? 0))
  if (name === 'searchRun') return await searchRun(run, words, signal)
  return await fileOf(addressOf(name, given), signal)
}

async function fileOf(address: string, signal?: AbortSignal): Promise<unknown> {
  const file = `${exported}/${exportedName(address)}`
  const response = await answered(file, signal === undefined ? {} : { signal }).catch((error: unknown) => {
    if (error instanceof Failure && error.status === 404)
      throw new Failure(
        404,
        'not_exported',
        'This is not part of the exported copy.',
        'Export it with the others: gantry view --export DIR RUN…',
      )
    throw error
  })
  return file.endsWith('.json') ? await response.json() : await response.text()
}

async function allRuns(signal?: AbortSignal): Promise<RunList> {
  return (await fileOf('/v1/runs', signal)) as RunList
}

async function trialsOf(run: string, signal?: AbortSignal): Promise<readonly TrialRow[]> {
  return ((await fileOf(`/v1/runs/${run}/trials`, signal)) as TrialList).trials
}

/** The runs with such a trial. */
async function having(runs: readonly RunRow[], wanted: Words, signal?: AbortSignal) {
  if (Object.values(wanted).every((word) => word === undefined)) return runs
  const fits = await Promise.all(
    runs.map(async ({ id }) => selectTrials(await trialsOf(id, signal), wanted).length > 0),
  )
  return runs.filter((_, at) => fits[at])
}

async function trends(words: Words, signal?: AbortSignal): Promise<Trend> {
  const { trendOf } = await import('../../src/core/trend-points.ts')
  const { runs } = await allRuns(signal)
  const known = await Promise.all(
    selectRuns(runs, { kind: 'scenario' })
      .toReversed()
      .map(async (row) => {
        const { manifest } = (await fileOf(`/v1/runs/${row.id}`, signal)) as Run
        if (manifest === null) return []
        const { commit_sha: commit, versions } = manifest
        return [{ ...row, commit, versions, trials: await trialsOf(row.id, signal) }]
      }),
  )
  return trendOf(known.flat(), words)
}

async function comparison({ sides = '', margin }: Words, signal?: AbortSignal): Promise<ComparisonList> {
  const { compareWithFirst, sideNamed } = await import('../../src/core/compare-facts.ts')
  const { runs } = await allRuns(signal)
  const opened = await Promise.all(
    sides.split(',').map(async (side) => {
      const name = decodeURIComponent(side)
      const [id = '', ...rest] = name.split(':')
      return sideNamed(name, (await fileOf(`/v1/runs/${id}/side`, signal)) as Side, rest.join(':'))
    }),
  )
  const compared = compareWithFirst(opened, { margin: Number(margin ?? 0.05), seed: 1 })
  return {
    ...compared,
    sides: compared.sides.map(({ runId, ...side }) => ({
      ...side,
      run: runs.find(({ id }) => id === runId) as RunRow,
    })),
  }
}

type Side = Omit<import('../../src/core/compare-facts.ts').ComparedSide, 'name' | 'isChosen'>

/** Where the parts of a log begin, as far as they were read. */
const begins = new Map<string, number[]>()

/** Events from a place on, or before it. The exported parts begin where a reader from the start would have asked. */
async function eventsOf(run: string, trial: string, words: Words, signal?: AbortSignal): Promise<EventPage> {
  const isBefore = words.before !== undefined
  const place = Number(words.before ?? words.from ?? 0)
  const known = begins.get(`${run}/${trial}`) ?? [0]
  begins.set(`${run}/${trial}`, known)
  const isWanted = (at: number): boolean => (isBefore ? at < place : at >= place)
  for (let from = known.findLast((begin) => (isBefore ? begin < place : begin <= place)) ?? 0; ; ) {
    const address = addressOf('trialEvents', { path: { run, trial }, query: { from } })
    const part = (await fileOf(address, signal)) as EventPage
    if (!known.includes(part.next)) known.push(part.next)
    if (part.events.length === 0 || part.next > place || (isBefore && part.next === place))
      return { ...part, events: part.events.filter(({ at }) => isWanted(at)) }
    from = part.next
  }
}

async function hitsOf(
  run: string,
  trial: string,
  text: string,
  most: number,
  signal?: AbortSignal,
  begin = 0,
): Promise<SearchResult> {
  const hits: { at: number; excerpt: string }[] = []
  for (let from = begin; ; ) {
    const part = await eventsOf(run, trial, { from: String(from) }, signal)
    if (part.events.length === 0) return { hits, next: null }
    for (const { at, event, head } of part.events) {
      const line = event === null ? (head ?? '') : JSON.stringify(event)
      const excerpt = searchLine(line, text)
      if (excerpt !== null) hits.push({ at, excerpt })
    }
    from = part.next
    if (hits.length > most) return { hits, next: from }
  }
}

/** Ten trials at a time, so that the person sees progress. */
async function searchRun(run: string, { text = '', after }: Words, signal?: AbortSignal): Promise<RunSearch> {
  const trials = selectTrials(await trialsOf(run, signal), {})
  const from = Number(after ?? 0)
  const part = trials.slice(from, from + 10)
  const hits = await Promise.all(
    part.map(async ({ trial_id: trial }) => {
      const { hits: found } = await hitsOf(run, trial, text, 5, signal)
      return found.slice(0, 5).map((hit, at) => ({ trial, ...hit, more: at === 4 && found.length > 5 }))
    }),
  )
  const searched = from + part.length
  return {
    hits: hits.flat(),
    next: searched < trials.length ? String(searched) : null,
    searched,
    trials: trials.length,
  }
}
