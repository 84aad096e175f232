import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../../test/support/sample-record.ts'
import { GantryError } from '../../core/error.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { displayWidth } from '../../report/display-width.ts'
import type { NewRun, RunStatus, Store } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { flagRun } from '../../store/flag-run.ts'
import { openStore } from '../../store/open-store.ts'
import type { CliContext, CliStream } from '../context.ts'
import { runsCommand } from './index.ts'

const day = 86_400_000
let root: string
let store: Store
let ageMs: number

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-runs-'))
  ageMs = 0
  const clock = { now: () => new Date(Date.now() - ageMs) }
  store = openStore({ env: {}, cwd: root, root: join(root, 'store'), clock })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('gantry runs list', () => {
  test('an empty store is reported and stays empty', async () => {
    expect((await gantry(['list'])).out).toBe(`No runs in ${store.root}.\n`)
    expect((await gantry(['list', '--kind', 'task'])).out).toContain('No task runs')
    expect(JSON.parse((await gantry(['list', '--json'])).out)).toEqual({
      root: store.root,
      total: 0,
      runs: [],
    })
    expect(existsSync(store.root)).toBe(false)
  })

  test('shows one line per run with result, cost, time and flags', async () => {
    const id = await ended({ title: 'Notes suite' }, 'fail')
    flagRun(store, id, 'pinned', true)
    const { out } = await gantry(['list'], { columns: 200 })
    const [heading, line] = out.split('\n')
    expect(heading).toMatch(/^RUN +WHEN +KIND +TITLE +RESULT +COST +TIME +FLAGS$/)
    expect(line).toContain(id)
    expect(line).toMatch(/ago +scenario +Notes suite +fail 1\/2, 1 infra +\$0\.7500 +\S+ +pinned$/)
  })

  test('shows unmetered when no trial reported a price, and no cost only when all came from the cache', async () => {
    const costs = async (...changes: readonly Partial<TrialRecord>[]): Promise<string> => {
      const run = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
      for (const [index, change] of changes.entries()) run.finishTrial(sampleRecord(`t${index}`, change))
      await run.end({ status: 'pass' })
      const [, line = ''] = (await gantry(['list', '--limit', '1'])).out.split('\n')
      const shown = (await gantry(['show', run.id])).out
      rmSync(run.dir, { recursive: true })
      const [, cost = ''] = /^cost +(.*)$/m.exec(shown) ?? []
      return `${/unmetered|\$[\d.]+/.exec(line)?.[0]} / ${cost}`
    }
    const cached = { cachedFrom: 'run_20250101_000000_aaaaaa' }
    expect(await costs({ costUsd: null }, { costUsd: null })).toBe('unmetered / unmetered')
    expect(await costs({ costUsd: null }, cached)).toBe('unmetered / unmetered')
    expect(await costs()).toBe('unmetered / unmetered')
    expect(await costs(cached)).toBe('$0.0000 / $0.0000')
    expect(await costs({ ...cached, costUsd: null })).toBe('unmetered / unmetered')
    expect(await costs({ costUsd: 0.06 }, { costUsd: null })).toBe('$0.0600 / $0.0600, 1 unmetered')
  })

  test.each([30, 40, 60, 80, 100, 132])(
    'fits a terminal of %d columns, whatever the titles',
    async (columns) => {
      await ended({ title: '日本語のとても長い題名'.repeat(4) })
      await ended({ title: `evil \u001b]0;pwned\u0007\u001b[2J title ${'x'.repeat(300)}\nsecond line` })
      const { out } = await gantry(['list'], { columns, isTTY: true, color: true })
      const lines = out.trimEnd().split('\n')
      expect(lines).toHaveLength(3)
      // Ids and results are never shortened: they need about 36 columns.
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(Math.max(columns, 46))
      expect(out).not.toContain('\u0007')
      expect(out).not.toContain('\u001b[2J')
      if (columns >= 80) expect(stripVTControlCharacters(out)).toContain('evil')
    },
  )

  test('in a pipe nothing is shortened', async () => {
    await ended({ title: 'x'.repeat(300) })
    expect((await gantry(['list'], { columns: 80 })).out).toContain('x'.repeat(300))
  })

  test('limits the list and shows how many more there are', async () => {
    for (let index = 0; index < 3; index += 1) await ended({})
    const { out } = await gantry(['list', '--limit', '2'])
    expect(out.trimEnd().split('\n')).toHaveLength(4)
    expect(out).toContain('1 older: --limit 3 shows all.')
  })

  test('prints JSON and nothing else', async () => {
    const id = await ended({ title: 'Notes' }, 'fail')
    const { out } = await gantry(['list', '--json', '--kind', 'scenario'])
    expect(JSON.parse(out)).toMatchObject({
      total: 1,
      runs: [
        {
          run_id: id,
          run_dir: join(store.runsDir, id),
          kind: 'scenario',
          status: 'fail',
          totals: { trials: 3 },
        },
      ],
    })
  })
})

describe('gantry runs show', () => {
  test('shows what ran, how it ended and where the files are', async () => {
    const id = await ended({ title: 'Notes', argv: ['gantry', 'test', 'a.yaml'], target: 'tool 1.2' }, 'fail')
    flagRun(store, id, 'blessed', true, 'release 1')
    const { out } = await gantry(['show', 'latest'])
    for (const part of [
      id,
      'fail',
      'Notes',
      'gantry test a.yaml',
      'tool 1.2',
      'blessed: release 1',
      'all 3 gates passed',
    ]) {
      expect(out).toContain(part)
    }
    expect(out).toContain(join(store.runsDir, id, 'trials', 'b'))
    expect(out).toContain('1 pass, 1 fail, 1 infra, 0 invalid, 0 not run, 0 cached')
  })

  test('prints a run as one JSON document', async () => {
    const id = await ended({}, 'fail')
    const document = JSON.parse((await gantry(['show', id.slice(0, 24), '--json'])).out)
    expect(document).toMatchObject({ run_id: id, manifest: { status: 'fail' }, summary: null })
    expect(document.trials.map((trial: { id: string }) => trial.id)).toEqual(['a', 'b', 'c'])
  })

  test('shows one trial with its gates and files', async () => {
    const id = await ended({})
    const { out } = await gantry(['show', id, 'a'])
    expect(out).toContain('command_succeeds: exit code 0')
    expect(out).toContain('result.json')
    writeFileSync(join(store.runsDir, id, 'trials/a/workspace.diff'), '+[ ] milk\n')
    expect((await gantry(['show', id, 'a'])).out).toContain('changes in the workspace:\n    | +[ ] milk\n')
    const document = JSON.parse((await gantry(['show', id, 'a', '--json'])).out)
    expect(document).toMatchObject({
      run_id: id,
      trial_id: 'a',
      trial: { verdict: 'pass' },
      workspace_diff: '+[ ] milk\n',
      files: ['result.json', 'workspace.diff'],
    })
  })

  test('an unknown run or trial is an error with a hint', async () => {
    expect(await failure(['show', 'latest'])).toMatchObject({ code: 'NOT_FOUND' })
    const id = await ended({})
    expect(await failure(['show', id, 'zzz'])).toMatchObject({ code: 'NOT_FOUND', hint: 'It has: a, b, c.' })
    expect(await failure(['show', id, '../../..'])).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('a run of an older tool is shown as far as possible', async () => {
    mkdirSync(join(store.runsDir, '20200101-120000-tool-model-case'), { recursive: true })
    const { out } = await gantry(['show', '20200101'])
    expect(out).toContain('tool-model-case')
    expect(out).toContain('unknown')
  })
})

describe('gantry runs clean', () => {
  test('applies the policy, and reports removed runs, freed space and why others stay', async () => {
    const old = await ended({}, 'pass', 15 * day)
    const pinned = await ended({}, 'pass', 16 * day)
    flagRun(store, pinned, 'pinned', true)
    const fresh = await ended({})
    const { out } = await gantry(['clean'])
    expect(out).toMatch(new RegExp(`removed ${old} too old, [\\d.]+ KB`))
    expect(out).toContain(`kept ${pinned} pinned`)
    expect(out).toMatch(/Removed 1 run and freed [\d.]+ KB\. Keeping 1 run\. 1 more is protected\./)
    expect(runsLeft()).toEqual([fresh, pinned].sort())
  })

  test('a dry run removes nothing', async () => {
    const old = await ended({}, 'pass', 15 * day)
    const { out } = await gantry(['clean', '--dry-run'])
    expect(out).toContain(`would remove ${old}`)
    expect(out).toContain('Would remove 1 run and free')
    expect(runsLeft()).toEqual([old])
  })

  test('--older-than accepts a duration with a unit', async () => {
    const [hours, minutes] = [await ended({}, 'pass', 2 * 3_600_000), await ended({}, 'pass', 60_000)]
    await gantry(['clean', '--older-than', '3h'])
    expect(runsLeft()).toHaveLength(2)
    await gantry(['clean', '--older-than', '1h'])
    expect(runsLeft()).toEqual([minutes])
    expect(runsLeft()).not.toContain(hours)
    for (const bad of ['30', 'soon', '-1d', '']) {
      expect(await failure(['clean', '--older-than', bad])).toMatchObject({ code: 'USAGE' })
    }
  })

  test('--keep keeps the newest of the runs that cost nothing, and shows why the others stay', async () => {
    const free = async (age: number): Promise<string> => {
      ageMs = age
      const run = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
      await run.end({ status: 'pass', costUsd: 0 })
      ageMs = 0
      return run.id
    }
    const paid = await ended({}, 'pass', day + 4_000)
    const shown = (await gantry(['clean', '--keep', '0', '--dry-run'])).out
    expect(shown).toContain(`kept ${paid} it cost money; --older-than or --all removes it`)
    const ids = [paid, await free(day + 3_000), await free(day + 2_000), await free(day + 1_000)]
    const { out } = await gantry(['clean', '--keep', '1', '--json'])
    expect(JSON.parse(out)).toMatchObject({ dry_run: false, failed: [], removed_cache_entries: 0 })
    expect(JSON.parse(out).removed).toMatchObject([{ reason: 'count' }, { reason: 'count' }])
    expect(runsLeft()).toEqual([paid, ...ids.slice(3)])
  })

  test('--all removes the cache and everything that is not protected', async () => {
    const pinned = await ended({})
    flagRun(store, pinned, 'pinned', true)
    const damaged = await ended({})
    writeFileSync(join(store.runsDir, damaged, 'manifest.json'), '{')
    const live = createRun(store, { kind: 'task', title: 't', argv: [], cwd: root })
    mkdirSync(store.cacheDir)
    writeFileSync(join(store.cacheDir, `${'a'.repeat(64)}.json`), '{}')
    const { out } = await gantry(['clean', '--all'])
    expect(runsLeft()).toEqual([pinned, live.id].sort())
    expect(out).toContain(`kept ${live.id} running`)
    expect(out).toMatch(new RegExp(`removed ${damaged} by --all, `))
    expect(out).not.toContain('too many')
    expect(out).toContain('1 cache entry')
    expect(readdirSync(store.cacheDir)).toEqual([])
    live.release()
    const rest = JSON.parse((await gantry(['clean', '--all', '--json'])).out)
    expect(rest.removed).toMatchObject([{ id: live.id, reason: 'all' }])
    expect(await failure(['clean', '--all', '--keep', '3'])).toMatchObject({ code: 'USAGE' })
  })
})

describe('gantry runs clean, when a run cannot be removed', () => {
  test('removes the others, names it, and ends with the code for infrastructure', async () => {
    const [stubborn, other] = [await ended({}, 'pass', 20 * day), await ended({}, 'pass', 21 * day)]
    // A run whose lock is a directory cannot be locked.
    mkdirSync(join(store.runsDir, stubborn, 'lock'))
    const { out, code } = await gantry(['clean'])
    expect(code).toBe(3)
    expect(out).toContain(`could not remove ${stubborn}`)
    expect(out).toContain(`removed ${other}`)
    expect(runsLeft()).toEqual([stubborn])
    expect((await gantry(['list'])).out).toContain(stubborn)
  })
})

describe('gantry runs pin, bless and reindex', () => {
  test('set and clear flags', async () => {
    const id = await ended({})
    expect((await gantry(['pin', 'latest', '--reason', 'for the talk'])).out).toContain(`${id} is pinned`)
    expect((await gantry(['bless', id])).out).toContain(`${id} is blessed`)
    expect((await gantry(['show', 'blessed'])).out).toContain('pinned: for the talk')
    expect(JSON.parse((await gantry(['unpin', id, '--json'])).out)).toEqual({
      run_id: id,
      flags: { pinned: false, blessed: true, stuck: false },
    })
    await gantry(['unbless', id])
    expect(await failure(['show', 'blessed'])).toMatchObject({ code: 'NOT_FOUND' })
    expect(await failure(['pin', 'nothing'])).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('reindex counts', async () => {
    await ended({})
    rmSync(store.resultsFile)
    expect((await gantry(['reindex'])).out).toBe(
      'Indexed 1 run with 3 finished trials.\nAdded 4 lines that results.jsonl lacked.\n',
    )
    expect(JSON.parse((await gantry(['reindex', '--json'])).out)).toEqual({
      runs: 1,
      trials: 3,
      recovered: 0,
    })
  })
})

async function ended(
  change: Partial<NewRun>,
  status: Exclude<RunStatus, 'running'> = 'pass',
  age = 0,
): Promise<string> {
  ageMs = age
  const run = createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root, ...change })
  run.finishTrial(sampleRecord('a'))
  run.finishTrial(sampleRecord('b', { verdict: 'fail' }))
  run.finishTrial(sampleRecord('c', { verdict: 'infra' }))
  await run.end({ status })
  ageMs = 0
  return run.id
}

async function gantry(
  argv: readonly string[],
  stream: Partial<CliStream> = {},
): Promise<{ out: string; code: number }> {
  let out = ''
  let code = 0
  const stdout: CliStream = {
    isTTY: false,
    columns: 80,
    color: false,
    write: (text) => {
      out += text
    },
    ...stream,
  }
  const context: CliContext = {
    cwd: root,
    env: { AGENT_ARTIFACT_DIR: store.root },
    stdout,
    stderr: stdout,
    signal: new AbortController().signal,
    setExitCode: (next) => {
      code = next
    },
  }
  await runsCommand(context).exitOverride().parseAsync(argv, { from: 'user' })
  return { out, code }
}

async function failure(argv: readonly string[]): Promise<GantryError> {
  try {
    await gantry(argv)
  } catch (error) {
    if (error instanceof GantryError) return error
    throw error
  }
  throw new Error('expected a GantryError')
}

function runsLeft(): string[] {
  return readdirSync(store.runsDir).sort()
}
