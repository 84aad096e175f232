import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest } from '../support/gantry.ts'
import { smallProject, type TestProject } from '../support/project.ts'
import { linesOf, onlyRun, runGantry, runIds, runPath, runTests, shellAgent, verdictsOf } from './lab.ts'

interface ResultLine {
  readonly kind: string
  readonly run_id: string
  readonly trial_id?: string
}

async function listedRuns(project: TestProject): Promise<{ id: string; status: string }[]> {
  const { stdout } = await gantry(project, ['runs', 'list', '--json'])
  const document = JSON.parse(stdout) as { runs: { id?: string; run_id?: string; status: string }[] }
  return document.runs.map(({ id, run_id, status }) => ({ id: id ?? run_id ?? '', status }))
}

describe('runs at once in one store', () => {
  test('four of them keep every trial, every line and a right index', async () => {
    const count = 4
    using project = smallProject({
      config: shellAgent(),
      files: { 'agent.sh': 'sleep 0.01; echo > done.txt' },
    })
    const repeat = 12
    const results = await Promise.all(
      Array.from({ length: count }, () => runTests(project, ['--repeat', String(repeat), '--no-cache'])),
    )
    const ids = results.map((result) => result.run_id)
    expect(new Set(ids).size).toBe(count)
    for (const result of results) {
      expect(result).toMatchObject({ code: 0, stderr: '', summary: { counts: { pass: repeat } } })
      expect(linesOf(join(result.run_dir, 'trials.jsonl')).map((line) => JSON.parse(line))).toHaveLength(
        repeat,
      )
    }
    const lines = linesOf(join(project.store, 'results.jsonl')).map((line) => JSON.parse(line) as ResultLine)
    expect(
      lines
        .filter(({ kind }) => kind === 'run')
        .map(({ run_id }) => run_id)
        .sort(),
    ).toEqual([...ids].sort())
    const trials = lines
      .filter(({ kind }) => kind === 'trial')
      .map(({ run_id, trial_id }) => `${run_id} ${trial_id}`)
    expect(trials).toHaveLength(count * repeat)
    expect(new Set(trials).size).toBe(count * repeat)
    expect((await listedRuns(project)).map(({ id }) => id).sort()).toEqual([...ids].sort())
    const reindexed = await gantry(project, ['runs', 'reindex', '--json'])
    expect(JSON.parse(reindexed.stdout)).toEqual({ runs: count, trials: count * repeat, recovered: 0 })
  })

  test('share the cache without harm', async () => {
    using project = smallProject()
    const results = await Promise.all(Array.from({ length: 3 }, () => runTests(project, ['--repeat', '4'])))
    for (const result of results) expect(result).toMatchObject({ code: 0, stderr: '' })
    const again = await runTests(project, ['--repeat', '4'])
    expect(again.trials.every(({ cachedFrom }) => cachedFrom !== null)).toBe(true)
  })

  test('may be cleaned while another one is at work', async () => {
    using project = smallProject({
      config: shellAgent(),
      files: { 'agent.sh': 'sleep 0.2; echo > done.txt' },
    })
    const running = runTests(project, ['--repeat', '6', '--no-cache'])
    let cleaned = 0
    while (cleaned < 3) {
      const { code, stderr } = await runGantry(project, ['runs', 'clean', '--all'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      cleaned += 1
    }
    expect(await running).toMatchObject({ code: 0, summary: { counts: { pass: 6 } } })
  })
})

describe('a damaged store', () => {
  async function stored(): Promise<{ readonly project: TestProject; readonly id: string }> {
    const project = smallProject()
    await gantryTest(project, ['--repeat', '3', '--no-cache'])
    return { project, id: onlyRun(project) }
  }

  const half = (path: string): void => truncateSync(path, Math.floor(readFileSync(path).length / 2))
  const trial = 'trials/0002-case-worker-default-2/result.json'

  test('a damaged manifest is reported with a fix, and does not hide the other runs', async () => {
    const { project, id } = await stored()
    using _ = project
    half(runPath(project, id, 'manifest.json'))
    for (const argv of [
      ['test', '--resume', id],
      ['runs', 'pin', id],
    ]) {
      const { code, stderr } = await gantry(project, argv)
      expect(stderr).toContain(
        `manifest.json is damaged\nhint:  Restore the file from a copy, or remove the run`,
      )
      expect(code).toBe(3)
    }
    const shown = await gantry(project, ['runs', 'show', id])
    expect(shown.stdout).toMatch(/^run_\S+ {2}unknown\n[\s\S]*0003-case-worker-default-3/)
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    const other = await gantryTest(project, ['--no-cache'])
    expect(other.code).toBe(0)
    expect((await listedRuns(project)).map(({ id: listed }) => listed).sort()).toEqual(
      [id, other.run_id].sort(),
    )
  })

  test('a damaged result is reported, and made again on resume', async () => {
    const { project, id } = await stored()
    using _ = project
    half(runPath(project, id, trial))
    writeFileSync(runPath(project, id, 'trials.jsonl'), '')
    const shown = await gantry(project, ['runs', 'show', id])
    expect(shown.stderr).toMatch(
      /result\.json is damaged\nhint: {2}Resume the run to repeat trials without a readable result\./,
    )
    expect(shown.code).toBe(3)
    const resumed = await gantryTest(project, ['--resume', id])
    expect(verdictsOf(resumed)).toEqual(['pass', 'pass', 'pass'])
    expect(resumed.code).toBe(0)
  })

  test.each<[string, (path: string) => void]>([
    ['torn', half],
    ['garbage', (path) => writeFileSync(path, '\0\xff{"id":\nnot json\n{}\n[]\n')],
    ['empty', (path) => writeFileSync(path, '')],
  ])('a trial log that is %s is repaired silently', async (_how, damage) => {
    const { project, id } = await stored()
    using _ = project
    damage(runPath(project, id, 'trials.jsonl'))
    const shown = await gantry(project, ['runs', 'show', id, '--json'])
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    const resumed = await gantryTest(project, ['--resume', id])
    expect(resumed.trials).toHaveLength(3)
    expect(resumed).toMatchObject({ code: 0, stderr: '' })
  })

  test('a results log with garbage and a torn end takes new lines whole', async () => {
    const { project } = await stored()
    using _ = project
    const log = join(project.store, 'results.jsonl')
    writeFileSync(log, `garbage\n\0\0\0\n${readFileSync(log, 'utf8')}{"kind":"trial","run_id":"to`)
    const { run_id, code, stderr } = await gantryTest(project, ['--no-cache'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const parsed = linesOf(log).flatMap((line) => {
      try {
        return [JSON.parse(line) as ResultLine]
      } catch {
        return []
      }
    })
    expect(parsed.filter((line) => line.run_id === run_id).map(({ kind }) => kind)).toEqual(['trial', 'run'])
    expect((await gantry(project, ['runs', 'reindex'])).code).toBe(0)
  })

  test.each<[string, (path: string) => void]>([
    ['garbage', (path) => writeFileSync(path, 'this is no database, whatever its name says. '.repeat(200))],
    ['torn', half],
    ['empty', (path) => writeFileSync(path, '')],
  ])('an index that is %s is made again in silence', async (_how, damage) => {
    const { project, id } = await stored()
    using _ = project
    damage(join(project.store, 'index.db'))
    expect(await listedRuns(project)).toEqual([{ id, status: 'pass' }])
    damage(join(project.store, 'index.db'))
    expect(await gantryTest(project, ['--no-cache'])).toMatchObject({ code: 0, stderr: '' })
    expect(await listedRuns(project)).toHaveLength(2)
  })

  test('a damaged cache entry is ignored', async () => {
    using project = smallProject()
    await gantryTest(project)
    const cache = join(project.store, 'cache')
    const [entry = ''] = readdirSync(cache)
    for (const content of [
      '',
      '{"key":',
      '{"record":{}}',
      'null',
      `\0${readFileSync(join(cache, entry), 'utf8')}`,
    ]) {
      writeFileSync(join(cache, entry), content)
      const { trials, code, stderr } = await gantryTest(project)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(trials).toMatchObject([{ verdict: 'pass', cachedFrom: null }])
    }
  })

  test('a damaged plan is an error for that run, not for the others', async () => {
    const { project, id } = await stored()
    using _ = project
    half(runPath(project, id, 'plan.json'))
    const { code, stderr } = await gantry(project, ['test', '--resume', id])
    expect(stderr).toMatch(
      /plan\.json is damaged\nhint: {2}The run cannot be resumed\. Its finished trials are still in trials\/\./,
    )
    expect(code).toBe(3)
    expect(await listedRuns(project)).toHaveLength(1)
  })

  test('foreign files and directories in it disturb nothing', async () => {
    const { project, id } = await stored()
    using _ = project
    writeFileSync(join(project.store, 'runs', 'run_20260101_000000_abcdef'), 'a file with the name of a run')
    appendFileSync(join(project.store, 'runs', 'notes.txt'), 'mine')
    expect((await listedRuns(project)).map((row) => row.id)).toEqual([id])
    expect(await gantryTest(project, ['--no-cache'])).toMatchObject({ code: 0, stderr: '' })
    expect(runIds(project)).toHaveLength(3)
    expect(existsSync(join(project.store, 'runs', 'notes.txt'))).toBe(true)
  })
})
