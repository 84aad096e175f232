import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { sampleRecord } from '../../../test/support/sample-run.ts'
import { labApp, openServerLab, type ServerLab } from '../../../test/support/server-lab.ts'
import { exportedName } from '../../core/exported-name.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { compareSides } from '../../scenario/compare-sides.ts'
import { createRun } from '../../store/create-run.ts'

let lab: ServerLab
let ask: ReturnType<typeof labApp>['ask']
let post: ReturnType<typeof labApp>['post']

beforeEach(() => {
  lab = openServerLab()
  ;({ ask, post } = labApp(lab))
})

async function addRun(records: readonly TrialRecord[], title = 'notes suite'): Promise<string> {
  const run = createRun(lab.store, {
    kind: 'scenario',
    title,
    argv: ['gantry', 'test', 'a b'],
    cwd: lab.root,
  })
  run.writePlan({ trials: records.map(({ id }) => ({ id })) })
  for (const record of records) {
    run.openTrial(record.id)
    run.finishTrial(record)
  }
  await run.end({ status: 'pass' })
  return run.id
}

const json = async (path: string) => (await ask(path)).json() as Promise<Record<string, never>>
const record = (changes: Partial<TrialRecord>): TrialRecord => sampleRecord(changes)

test('a trial that runs is listed with its place in the plan, and says what was asked', async () => {
  const run = createRun(lab.store, { kind: 'scenario', title: 'live', argv: [], cwd: lab.root })
  const header = { case: 'notes', agent: 'codex', model: 'default' }
  const [ended, runs, over, waits] = ['0001', '0002', '0003', '0004'].map((id, at) => ({
    ...{ id, ...header, attempt: at + 1 },
  })) as [TrialRecord, TrialRecord, TrialRecord, TrialRecord]
  run.freeze('other.yaml', 'name: other\ntask: {prompt: Not this}\n')
  run.freeze('notes.yaml', 'name: notes\ntask: {prompt: Write a note}\n')
  run.writePlan({ trials: [ended, runs, over, waits] })
  for (const { id } of [ended, runs, over]) run.openTrial(id)
  run.finishTrial(record(ended))
  run.checkpoint(over.id, 'agent', {})
  const row = (of: TrialRecord, isOver: boolean) => ({
    ...{ trial_id: of.id, ...header, attempt: of.attempt, is_over: isOver },
  })
  expect(await json(`/v1/runs/${run.id}`)).toMatchObject({ begun: [row(runs, false), row(over, true)] })
  expect(await json(`/v1/runs/${run.id}/trials/0002`)).toMatchObject({
    ...{ record: null, begun: row(runs, false), prompt: 'Write a note' },
  })
  await run.end({ status: 'fail' })
  expect(await json(`/v1/runs/${run.id}`)).toMatchObject({ begun: [] })
})

test('runs are listed newest first, with filters that look into their trials', async () => {
  const one = await addRun([record({ agent: 'codex' })], 'first')
  const two = await addRun([record({ agent: 'claude-code', tags: ['slow', 'smoke'] })], 'second')
  const ids = async (query: string) => {
    const { runs } = (await json(`/v1/runs${query}`)) as unknown as { runs: { id: string }[] }
    return runs.map(({ id }) => id).sort()
  }
  expect(await ids('')).toEqual([one, two].sort())
  expect(await ids('?agent=codex')).toEqual([one])
  expect(await ids('?tag=slow')).toEqual([two])
  expect(await ids('?text=SECOND')).toEqual([two])
  expect(await ids('?status=fail')).toEqual([])
  expect(await json('/v1/runs')).toMatchObject({
    names: { agents: ['claude-code', 'codex'], tags: ['slow', 'smoke'] },
  })
})

test('a run has its rates, cells and the command that makes it again', async () => {
  const id = await addRun([
    record({ attempt: 1, verdict: 'pass' }),
    record({ attempt: 2, verdict: 'fail' }),
    record({ attempt: 3, verdict: 'infra' }),
  ])
  expect(await json(`/v1/runs/${id}`)).toMatchObject({
    row: { id, status: 'pass', live: false },
    planned: 3,
    command: "gantry test 'a b'",
    cells: [{ case: 'create-note', counts: { pass: 1, fail: 1, infra: 1, invalid: 0 } }],
    rates: [{ agent: 'claude-code', cases: 1 }],
  })
})

test('trials come in pages, chosen and sorted', async () => {
  const id = await addRun(
    [1, 2, 3].map((attempt) =>
      record({ attempt, costUsd: 4 - attempt, verdict: attempt === 2 ? 'fail' : 'pass' }),
    ),
  )
  const found = await json(`/v1/runs/${id}/trials?sort=cost&limit=2`)
  expect(found).toMatchObject({ total: 3, trials: [{ attempt: 3 }, { attempt: 2 }] })
  expect(await json(`/v1/runs/${id}/trials?only=failures`)).toMatchObject({ total: 1 })
})

test('what does not exist, or is no id, says so', async () => {
  for (const path of ['/v1/runs/run_20200101_000000_aaaaaa', '/v1/runs/run_20200101_000000_aaaaaa/trials/x'])
    expect((await ask(path)).status).toBe(404)
  const id = await addRun([record({})])
  for (const path of [
    '/v1/runs/nonsense',
    '/v1/runs/..%2f..%2fetc',
    `/v1/runs/${id}/trials/..%2fx`,
    `/v1/runs/${id}/trials?sort=x`,
    ...['-5', '1.5', '1e300', ''].map((at) => `/v1/runs/${id}/search?text=x&after=t:${at}`),
  ])
    expect((await ask(path)).status, path).toBe(400)
})

test('a run with a damaged manifest is shown as far as it can be read', async () => {
  const id = await addRun([record({})])
  writeFileSync(join(lab.store.runsDir, id, 'manifest.json'), '{"run_')
  expect(await json(`/v1/runs/${id}`)).toMatchObject({
    manifest: null,
    problem: expect.stringContaining('damaged'),
  })
  expect(await json('/v1/runs')).toMatchObject({ total: 1 })
})

async function addTrial(events: readonly object[], changes: Partial<TrialRecord> = {}) {
  const made = record(changes)
  const id = await addRun([made])
  const dir = join(lab.store.runsDir, id, 'trials', made.id)
  writeFileSync(join(dir, 'events.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  return { id, trial: made.id, dir, at: `/v1/runs/${id}/trials/${made.id}` }
}

test('the log of a trial is read in parts, forward and backward, and a torn line is left out', async () => {
  const { at, dir } = await addTrial(
    [1, 2, 3, 4].map((ts) => ({ ts, event: 'note', level: 'info', message: 'x'.repeat(50) })),
  )
  appendFileSync(join(dir, 'events.jsonl'), '{"ts":5,"ev')
  type Page = { events: { at: number; event: { ts: number } }[]; next: number; bytes: number }
  const page = async (query: string) => (await json(`${at}/events${query}`)) as unknown as Page
  const first = await page('?limit=3')
  expect(first.events.map(({ event }) => event.ts)).toEqual([1, 2, 3])
  const second = await page(`?from=${first.next}`)
  expect(second.events.map(({ event }) => event.ts)).toEqual([4])
  const before = await page(`?before=${second.events[0]?.at}`)
  expect(before.events.map(({ event }) => event.ts)).toEqual([1, 2, 3])
})

test('long texts are cut unless all of it is asked for, and a line that is no event is shown as it is', async () => {
  const { at, dir } = await addTrial([{ ts: 1, event: 'output', text: 'y'.repeat(100_000) }])
  appendFileSync(join(dir, 'events.jsonl'), 'not json\n')
  expect(await json(`${at}/events`)).toMatchObject({
    events: [
      { cut: true, event: { text: expect.stringMatching(/^y{8000}…$/) } },
      { event: null, head: 'not json' },
    ],
  })
  expect(await json(`${at}/events?whole=true&limit=1`)).toMatchObject({
    events: [{ cut: false, event: { text: 'y'.repeat(100_000) } }],
  })
})

test('links in the directory of a trial are listed as they are, also those that lead nowhere', async () => {
  const { at, dir } = await addTrial([])
  for (const name of ['loop', 'gone']) symlinkSync(name === 'loop' ? 'loop' : 'nothing', join(dir, name))
  const { files } = (await json(at)) as unknown as { files: { path: string; bytes: number }[] }
  expect(files).toContainEqual({ path: 'loop', bytes: 'loop'.length })
  expect(files).toContainEqual({ path: 'gone', bytes: 'nothing'.length })
  expect((await ask(`${at}/file?path=loop`)).status).toBe(404)
})

test('changes that are not shown are counted, and a diff that is too large says so', async () => {
  const { at, dir } = await addTrial([])
  const diff = '--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n# 251 more files changed\n'
  writeFileSync(join(dir, 'workspace.diff'), diff)
  expect(await json(at)).toMatchObject({ changes: [{ path: 'a', lines: 5 }], more_changes: 251 })
  expect(await (await ask(`${at}/diff`)).text()).toBe(diff)
  truncateSync(join(dir, 'workspace.diff'), 16 * 1024 * 1024 + 1)
  expect(await json(at)).toMatchObject({ changes: [], more_changes: null })
  expect(await json(`${at}/diff`)).toMatchObject({ error: { code: 'too_large' } })
})

test('two files of an exported trial never share a name, also where a short hash of them is equal', () => {
  const name = (number: number) => exportedName(`/v1/runs/r/trials/t/diff?path=${'a'.repeat(80)}${number}`)
  expect(name(422_789)).not.toBe(name(639_192))
})

test('a search finds events by their position', async () => {
  const { at } = await addTrial([
    { ts: 1, event: 'output', text: 'nothing here' },
    { ts: 2, event: 'output', text: 'a "NEEDLE"\nof "steel"' },
  ])
  const { hits, next } = (await json(
    `${at}/search?text=${encodeURIComponent('needle"\nof "s')}`,
  )) as unknown as {
    hits: { at: number; excerpt: string }[]
    next: null
  }
  expect(hits).toEqual([
    { at: expect.any(Number), excerpt: expect.stringMatching(/^output: .*a "NEEDLE" of "steel"/) },
  ])
  expect(next).toBe(null)
  expect(await json(`${at}/events?from=${hits[0]?.at}`)).toMatchObject({ events: [{ event: { ts: 2 } }] })
})

test('a text is searched in all trials of a run, a part at a time', async () => {
  const ids = ['t1', 't2', 't3']
  const id = await addRun(ids.map((one, at) => record({ id: one, attempt: at + 1 })))
  const write = (trial: string, lines: readonly string[]): void =>
    writeFileSync(
      join(lab.store.runsDir, id, 'trials', trial, 'events.jsonl'),
      lines.map((text, ts) => `${JSON.stringify({ ts, event: 'output', text })}\n`).join(''),
    )
  write('t1', ['nothing', 'say "needle"', '{"torn'])
  // Longer than what one answer reads: it says where it goes on.
  write(
    't2',
    Array.from({ length: 22 }, () => 'x'.repeat(1024 * 1024)),
  )
  write(
    't3',
    Array.from({ length: 9 }, () => 'say "needle"'),
  )
  type Part = {
    hits: { trial: string; at: number; more: boolean }[]
    next: string | null
    searched: number
    trials: number
  }
  const ask = async (after = '') =>
    (await json(
      `/v1/runs/${id}/search?text=${encodeURIComponent('Say "needle"')}${after}`,
    )) as unknown as Part
  const first = await ask()
  expect(first).toMatchObject({ hits: [{ trial: 't1' }], searched: 1, trials: 3 })
  expect(first.next).toMatch(/^t2:[1-9]/)
  const second = await ask(`&after=${encodeURIComponent(first.next ?? '')}`)
  expect(second).toMatchObject({ next: null, searched: 3 })
  expect(second.hits.map(({ trial, more }) => `${trial} ${more}`)).toEqual([
    ...Array.from({ length: 4 }, () => 't3 false'),
    't3 true',
  ])
  const { events } = (await json(`/v1/runs/${id}/trials/t1/events?from=${first.hits[0]?.at}`)) as unknown as {
    events: { event: { text: string } }[]
  }
  expect(events[0]?.event.text).toBe('say "needle"')
})

test('a label reads only its own trial', async () => {
  const id = await addRun([record({ id: 't1' }), record({ id: 't2', attempt: 2 })])
  writeFileSync(join(lab.store.runsDir, id, 'trials.jsonl'), '')
  writeFileSync(join(lab.store.runsDir, id, 'trials/t2/result.json'), '{')
  writeFileSync(join(lab.root, 'gantry.yaml'), '{}')
  const { post } = labApp(lab, true, lab.root)
  expect((await post(`/v1/runs/${id}/trials/t1/label`, { label: 'pass' })).status).toBe(200)
  expect((await post(`/v1/runs/${id}/trials/t9/label`, { label: 'pass' })).status).toBe(404)
  expect(await (await labApp(lab, true, lab.root).ask('/v1/labels')).json()).toMatchObject({
    labels: [{ trial: 't1', label: 'pass' }],
  })
})

test('a gate is linked to the calls, files and lines it rests on', async () => {
  const { at, dir } = await addTrial(
    [
      { ts: 1, event: 'tool_call', tool: 'Bash', command: 'echo hi > notes.md' },
      { ts: 2, event: 'tool_result', output: '' },
      { ts: 3, event: 'gate', index: 0, type: 'file_contains', passed: true, message: '' },
    ],
    {
      gates: [
        {
          type: 'file_contains',
          passed: true,
          message: '',
          detail: { path: 'notes.md', substring: 'hi' },
          line: 7,
        },
        {
          type: 'tool_called',
          passed: true,
          message: '',
          detail: { uses: ['Bash: echo hi > notes.md (exit code 0)'] },
        },
      ],
    },
  )
  mkdirSync(join(dir, 'fixture'))
  writeFileSync(join(dir, 'fixture/notes.md'), 'one\nhi\n')
  const { gates } = (await json(`${at}/evidence`)) as unknown as { gates: object[][] }
  expect(gates[0]).toEqual([
    { kind: 'file', path: 'notes.md', line: 2 },
    { kind: 'event', at: 0, text: 'Bash: echo hi > notes.md' },
    { kind: 'event', at: expect.any(Number), text: 'the check itself' },
    { kind: 'scenario', line: 7 },
  ])
  expect(gates[1]?.[0]).toMatchObject({ kind: 'event', at: 0 })
})

test('evidence and searches of a long log leave room for other requests, and calls of a flood are not all kept', async () => {
  const long = 'x'.repeat(500_000)
  const { at } = await addTrial(
    [
      { ts: 1, event: 'tool_call', tool: 'Write', input: { file: 'notes.md', content: long } },
      ...Array.from({ length: 40 }, (_, ts) => ({ ts, event: 'output', text: long })),
      ...Array.from({ length: 20_001 }, (_, ts) => ({ ts, event: 'tool_call', tool: 'Bash', command: 'ls' })),
      { ts: 3, event: 'gate', index: 0, type: 'tool_called', passed: true, message: '' },
    ],
    {
      gates: [
        { type: 'file_exists', passed: true, message: '', detail: { path: 'notes.md' } },
        { type: 'tool_called', passed: true, message: '', detail: { uses: ['Bash: ls'] } },
      ],
    },
  )
  for (const path of ['evidence', 'search?text=needle']) {
    let turns = 0
    const count = setInterval(() => {
      turns += 1
    }, 0)
    const answer = await json(`${at}/${path}`)
    clearInterval(count)
    expect(turns, path).toBeGreaterThan(2)
    if (path !== 'evidence') continue
    const { gates } = answer as unknown as { gates: object[][] }
    expect(gates[0]).toContainEqual({ kind: 'event', at: 0, text: 'Write: notes.md' })
    expect(gates[0]).toContainEqual({ kind: 'event', at: expect.any(Number), text: 'the check itself' })
    expect(gates[1]).toHaveLength(12)
  }
})

test('a pipe in the place of any file of a run neither hangs the server nor hides other runs', async () => {
  const other = await addRun([record({})])
  const { id, at, dir } = await addTrial([{ ts: 1, event: 'output', text: 'x' }])
  const files = ['manifest.json', 'plan.json', 'summary.json', 'trials.jsonl', 'lock', 'inputs/index.jsonl']
  const ofTrial = ['result.json', 'events.jsonl', 'run.json', 'workspace.diff', 'transcript.txt']
  const run = join(lab.store.runsDir, id)
  for (const path of [...files.map((file) => join(run, file)), ...ofTrial.map((file) => join(dir, file))]) {
    const text = existsSync(path) ? readFileSync(path) : null
    rmSync(path, { force: true })
    mkdirSync(dirname(path), { recursive: true })
    execFileSync('mkfifo', [path])
    for (const address of [
      `/v1/runs/${id}`,
      `/v1/runs/${id}/trials`,
      `/v1/runs/${id}/search?text=x`,
      at,
      ...['evidence', 'events', 'search?text=x', 'diff'].map((part) => `${at}/${part}`),
    ])
      expect((await ask(address)).status, `${path} ${address}`).toBeLessThan(500)
    const { runs } = (await json('/v1/runs')) as unknown as { runs: { id: string }[] }
    expect(runs.map(({ id }) => id)).toContain(other)
    rmSync(path)
    if (text !== null) writeFileSync(path, text)
  }
})

test('calls of the model come with the evidence, from anywhere in the log', async () => {
  const call = { event: 'model_call', index: 0, model: 'm', kind: 'turn', status: 529, by: 'fault' }
  const { at } = await addTrial([
    { ts: 1, event: 'output', text: 'z'.repeat(100_000) },
    { ts: 2, ...call },
  ])
  const answer = (await json(`${at}/evidence`)) as unknown as { model_calls: { at: number }[] }
  expect(answer).toMatchObject({ model_calls: [{ event: call }], guard: [] })
  expect(await json(`${at}/events?from=${answer.model_calls[0]?.at}`)).toMatchObject({
    events: [{ event: call }],
  })
})

test('files of a trial can be read, and nothing outside of it', async () => {
  const { at, dir } = await addTrial([])
  writeFileSync(join(dir, 'plain.txt'), 'hello')
  expect(await (await ask(`${at}/file?path=plain.txt`)).text()).toBe('hello')
  for (const path of ['../../manifest.json', '/etc/passwd', 'missing', '..'])
    expect((await ask(`${at}/file?path=${encodeURIComponent(path)}`)).status, path).toBe(404)
})

test('a run is pinned, blessed and deleted, and retention says what comes next', async () => {
  const id = await addRun([record({})])
  expect(await (await post(`/v1/runs/${id}/flags`, { pinned: true })).json()).toEqual({ flags: ['pinned'] })
  expect(await json('/v1/retention')).toMatchObject({ next: [] })
  expect((await ask(`/v1/runs/${id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await ask(`/v1/runs/${id}`)).status).toBe(404)
})

test('files that the steps of a verification made are shown, those of the store are not', async () => {
  const run = createRun(lab.store, { kind: 'verify', title: 'verify', argv: [], cwd: lab.root })
  run.freeze('agent.yaml', 'secret: 1')
  for (const name of ['logs/step-01-test.log', 'coverage/index.txt']) {
    mkdirSync(join(run.dir, dirname(name)), { recursive: true })
    writeFileSync(join(run.dir, name), 'content')
  }
  await run.end({ status: 'pass' })
  const { files } = (await json(`/v1/runs/${run.id}`)) as unknown as { files: { path: string }[] }
  expect(files.map(({ path }) => path).sort()).toEqual(['coverage/index.txt', 'logs/step-01-test.log'])
  const status = async (path: string) => (await ask(`/v1/runs/${run.id}/file?path=${path}`)).status
  expect(await status('coverage/index.txt')).toBe(200)
  for (const path of ['manifest.json', 'inputs/index.jsonl', 'coverage/../manifest.json', '../x'])
    expect(await status(path), path).toBe(404)
})

test('runs are compared with the first of them, and a file is no run', async () => {
  const trials = (verdict: 'pass' | 'fail') =>
    ['a', 'b', 'c'].flatMap((name) => [1, 2].map((attempt) => record({ case: name, attempt, verdict })))
  const [one, two] = [await addRun(trials('pass')), await addRun(trials('fail'))]
  expect(await json(`/v1/comparisons?sides=${one},${two}`)).toMatchObject({
    comparisons: [{ verdict: 'worse', pairs: 3 }],
    sides: [{ run: { id: one } }, { run: { id: two } }],
  })
  // The page shows what the command says, also when there is nothing to compare.
  const names = [one, two] as const
  const { comparisons } = await json(`/v1/comparisons?sides=${names}`)
  const named = await compareSides(lab.store, names, { margin: 0.05, seed: 1 })
  expect(comparisons).toEqual(named.comparisons)
  const three = await addRun([record({ case: 'z' })])
  expect(await json(`/v1/comparisons?sides=${one},${three}`)).toMatchObject({
    error: { message: expect.stringContaining('nothing that can be compared'), hint: expect.any(String) },
  })
  expect((await ask(`/v1/comparisons?sides=${one},%2Fetc%2Fpasswd`)).status).toBe(400)
  writeFileSync(join(lab.store.root, 'serve-token'), 'secret')
  for (const file of ['serve-token', 'x:/../serve-token', 'x:/../../../etc/passwd'])
    expect(await json(`/v1/comparisons?sides=${one},${encodeURIComponent(file)}`), file).toMatchObject({
      error: { code: 'not_found', message: expect.stringContaining('there is no run') },
    })
  const { points } = (await json('/v1/trends')) as unknown as { points: { passes: number }[] }
  expect(points.map(({ passes }) => passes).sort()).toEqual([0, 1, 6])
})

test('a browser signs in with a code that works once, and changes need a header', async () => {
  const { code } = (await (await post('/v1/session/codes')).json()) as { code: string }
  const signIn = (body: object) => post('/v1/session', body)
  const first = await signIn({ code })
  const cookie = first.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^gantry_7777=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\//)
  expect((await signIn({ code })).status).toBe(401)
  expect((await signIn({ token: 'not the token of it' })).status).toBe(401)
  const as = (init: RequestInit = {}) =>
    ask('/v1/retention', {
      ...init,
      headers: { authorization: '', cookie: cookie.split(';')[0] ?? '', ...init.headers },
    })
  expect((await as()).status).toBe(200)
  const id = await addRun([record({})])
  const remove = (headers: Record<string, string>) =>
    ask(`/v1/runs/${id}`, {
      method: 'DELETE',
      headers: { authorization: '', cookie: cookie.split(';')[0] ?? '', ...headers },
    })
  expect((await remove({})).status).toBe(403)
  expect((await remove({ 'x-gantry-page': '1' })).status).toBe(200)
})
