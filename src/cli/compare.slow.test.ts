import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import type { Comparison } from '../core/comparison.ts'
import { GantryError } from '../core/error.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { RunPlan, Store } from '../store/contract.ts'
import { createRun } from '../store/create-run.ts'
import { openStore } from '../store/open-store.ts'
import { compareCommand } from './compare.ts'
import type { CliContext, CliStream } from './context.ts'
import { runsCommand } from './runs/index.ts'

let root: string
let store: Store

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-compare-'))
  store = openStore({ env: {}, cwd: root, root: join(root, 'store') })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Ten cases, of which the first `passing` pass. */
async function run(passing: number, change: Partial<TrialRecord> = {}): Promise<string> {
  const made = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  for (let index = 0; index < 10; index += 1)
    made.finishTrial(
      sampleRecord(`t${index}`, { case: `c${index}`, verdict: index < passing ? 'pass' : 'fail', ...change }),
    )
  await made.end({ status: passing === 10 ? 'pass' : 'fail' })
  return made.id
}

async function gantry(argv: readonly string[], env: Record<string, string> = {}) {
  let [out, code] = ['', 0]
  const stream: CliStream = {
    isTTY: false,
    color: false,
    columns: 100,
    write: (text) => {
      out += text
      return true
    },
  }
  const context: CliContext = {
    cwd: root,
    env: { AGENT_ARTIFACT_DIR: store.root, ...env },
    stdout: stream,
    stderr: stream,
    signal: new AbortController().signal,
    setExitCode: (next) => {
      code = next
    },
  }
  const [name, ...rest] = argv
  const command = name === 'runs' ? runsCommand(context) : compareCommand(context)
  await command.parseAsync(rest, { from: 'user' })
  return { out, code }
}

test('a run that passes where the one before failed is better, and the reverse exits with 1', async () => {
  const before = await run(1)
  const after = await run(10)
  const { out, code } = await gantry(['compare', before, after])
  expect(out).toMatch(
    /^\nBetter: B \(run_\S+\) against A \(run_\S+\)\n\n {2}Pass rate \+90 points, 95% interval/,
  )
  expect(code).toBe(0)
  const back = await gantry(['compare', after, before, '--json'])
  expect(JSON.parse(back.out) as Comparison).toMatchObject({
    verdict: 'worse',
    pairs: 10,
    before: { run_id: after },
  })
  expect(back.code).toBe(1)
})

test('an open question exits with 0, with --strict 4, with --fail-on 1', async () => {
  const [before, after] = [await run(9), await run(10)]
  expect((await gantry(['compare', before, after])).code).toBe(0)
  expect((await gantry(['compare', before, after, '--strict'])).code).toBe(4)
  expect((await gantry(['compare', before, after, '--fail-on', 'inconclusive'])).code).toBe(1)
  expect((await gantry(['compare', after, before, '--fail-on', 'regression'])).code).toBe(0)
})

test('a baseline file stands for its run, and has no path of the machine in it', async () => {
  const before = await run(10)
  await gantry(['runs', 'bless', before, '--to', 'baseline.json'])
  const text = readFileSync(join(root, 'baseline.json'), 'utf8')
  expect(text).not.toContain(root)
  expect(text).not.toContain('/elsewhere')
  const after = await run(1)
  const { out, code } = await gantry(['compare', 'baseline.json', after, '--json'])
  expect(JSON.parse(out) as Comparison).toMatchObject({ verdict: 'worse', before: { run_id: before } })
  expect(code).toBe(1)
  const mine = await gantry(['compare', 'baseline.json:mine', `${after}:mine`, '--json'])
  expect(JSON.parse(mine.out) as Comparison).toMatchObject({ verdict: 'worse', pairs: 10 })
  const latest = await gantry(['compare', 'baseline.json', 'latest'])
  expect(latest.out.replaceAll(/\s+/g, ' ')).toContain(`A is ${before}. B is ${after}.`)
})

test('the GitHub summary gets the comparison as Markdown', async () => {
  const [before, after] = [await run(1), await run(10)]
  const summary = join(root, 'summary.md')
  const { out } = await gantry(['compare', before, after, '--reporter', 'github'], {
    GITHUB_STEP_SUMMARY: summary,
  })
  expect(out).toBe('')
  expect(readFileSync(summary, 'utf8')).toContain('| c1 | mine | 0/1 | 1/1 |')
})

test.each([
  [['nothing', 'latest'], 'there is no run "nothing"'],
  [['latest:nobody', 'latest'], 'has no agent or model "nobody"'],
  [['latest~7', 'latest'], 'has only 2 such runs'],
  [['latest', 'latest'], 'name the same results'],
  [['latest', 'latest:mine'], 'name the same results'],
  [['blessed.json:other', 'latest'], 'blessed.json has no agent or model "other"'],
  [['impossible.json', 'latest'], 'there are more passes than trials'],
  [['broken.json', 'latest'], 'is not a baseline file: it cannot be read as JSON'],
  [['other.json', 'latest'], 'is not a baseline file: format'],
  [['latest~1', 'latest', '--map', 'a'], '--map a does not name two agents'],
  [['latest~1', 'latest', '--map', 'mine=other'], 'names an agent that latest does not have'],
  [['latest~1', 'latest', '--map', 'mine=mine', '--map', 'mine=mine'], 'names an agent twice'],
  [['latest~1', 'latest', '--reporter', 'xml'], 'there is no reporter "xml"'],
])('gantry compare %j is refused', async (argv, message) => {
  await run(10)
  const newest = await run(10)
  const { out } = await gantry(['runs', 'bless', newest, '--to', 'impossible.json'])
  expect(out).toContain('Its baseline is in impossible.json.')
  await gantry(['runs', 'bless', newest, '--to', 'blessed.json'])
  const text = readFileSync(join(root, 'impossible.json'), 'utf8')
  writeFileSync(join(root, 'impossible.json'), text.replace('"passes": 1', '"passes": 2'))
  writeFileSync(join(root, 'broken.json'), '{')
  writeFileSync(join(root, 'other.json'), '{}')
  const error = await gantry(['compare', ...argv]).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(GantryError)
  expect(error).toMatchObject({
    message: expect.stringContaining(message),
    hint: expect.stringMatching(/\S/),
  })
})

test('runs without a common case cannot be compared, and neither can one that has not ended', async () => {
  const before = await run(10)
  const after = await run(10, { agent: 'other' })
  await expect(gantry(['compare', before, after])).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('nothing that can be compared'),
    hint: expect.stringContaining('--map OLD=NEW'),
  })
  const other = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  other.finishTrial(sampleRecord('t0', { case: 'of another suite' }))
  await other.end({ status: 'pass' })
  await expect(gantry(['compare', before, other.id])).rejects.toMatchObject({
    hint: expect.stringContaining('no case in common'),
  })
  const going = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  await expect(gantry(['compare', before, going.id])).rejects.toMatchObject({
    message: expect.stringContaining('has not ended'),
  })
  await going.end({ status: 'pass' })
})

test('a run with a damaged manifest is refused as bad input', async () => {
  const [before, after] = [await run(10), await run(10)]
  writeFileSync(join(store.runsDir, after, 'manifest.json'), '{')
  await expect(gantry(['compare', before, after])).rejects.toMatchObject({ code: 'INVALID_FILE' })
  await expect(gantry(['runs', 'bless', after, '--to', 'x.json'])).rejects.toMatchObject({
    code: 'INVALID_FILE',
  })
})

test('a run of trials that failed before cannot be compared', async () => {
  const before = await run(5)
  const made = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  made.writePlan({ trials: [], request: { only: [{ case: 'c1' }] } } as RunPlan)
  made.finishTrial(sampleRecord('t0', { case: 'c9' }))
  await made.end({ status: 'pass' })
  await expect(gantry(['compare', before, made.id])).rejects.toMatchObject({
    message: expect.stringContaining('has only trials that failed before'),
  })
})

test('results that may be incomplete are compared with a warning', async () => {
  const before = await run(1)
  const made = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  for (let index = 0; index < 10; index += 1)
    made.finishTrial(sampleRecord(`t${index}`, { case: `c${index}` }))
  await made.end({ status: 'interrupted' })
  expect((await gantry(['compare', before, 'latest'])).out).toContain('Take care: latest was interrupted.')
})

test('a comparison of a run that stopped when it was decided says that it does not allow for that', async () => {
  const before = await run(1)
  const made = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  made.writePlan({ trials: [], request: { untilDecided: true } } as RunPlan)
  made.finishTrial(sampleRecord('t0', { case: 'c0' }))
  await made.end({ status: 'pass' })
  const { out } = await gantry(['compare', before, 'latest', '--json'])
  expect(JSON.parse(out)).toMatchObject({ doubts: [expect.stringContaining('stopped when it was decided')] })
})

test('a run that did not make all its trials is compared with a warning, also when it failed', async () => {
  const before = await run(1)
  const made = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
  const ids = Array.from({ length: 10 }, (_, index) => `t${index}`)
  made.writePlan({ trials: ids.map((id) => ({ id, key: null })), request: {} } as unknown as RunPlan)
  for (const id of ids.slice(0, 4))
    made.finishTrial(sampleRecord(id, { case: id.replace('t', 'c'), verdict: 'fail' }))
  await made.end({ status: 'fail' })
  const { out } = await gantry(['compare', before, 'latest', '--json'])
  expect(JSON.parse(out)).toMatchObject({ doubts: ['latest has results of only 4 of 10 planned trials'] })
})

test('trials of one run are recognized after the cache, a grading of its copies, and a baseline file', async () => {
  const made = await run(5)
  const cached = await run(5, { cachedFrom: made })
  const details = { regraded_from: cached }
  const regraded = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root, details })
  for (let index = 0; index < 10; index += 1)
    regraded.finishTrial(sampleRecord(`t${index}`, { case: `c${index}`, cachedFrom: cached }))
  await regraded.end({ status: 'pass' })
  await gantry(['runs', 'bless', cached, '--to', 'cached.json'])
  for (const [a, b] of [
    [made, cached],
    [made, regraded.id],
    ['cached.json', regraded.id],
    ['cached.json', made],
  ] as const)
    await expect(gantry(['compare', a, b])).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('both sides have the same trials'),
      hint: expect.stringContaining('--no-cache'),
    })
  const fresh = await run(5)
  const { out } = await gantry(['compare', fresh, regraded.id, '--json'])
  expect(JSON.parse(out)).toMatchObject({ pairs: 10, doubts: [] })
})

test('a run of another version of Gantry is not called damaged', async () => {
  const [before, after] = [await run(10), await run(10)]
  const path = join(store.runsDir, after, 'manifest.json')
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('"schema_version": 1', '"schema_version": 2, "more": {}'),
  )
  const error = await gantry(['compare', before, after]).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'OTHER_VERSION',
    exitCode: 2,
    message: expect.stringContaining('another version of Gantry'),
    hint: expect.stringContaining('run its trials again'),
  })
})
