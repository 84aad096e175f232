import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { TrialRecord } from '../../../src/core/trial.ts'
import type { NewRun } from '../../../src/store/contract.ts'
import { createRun } from '../../../src/store/create-run.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import type { TestProject } from '../support/project.ts'
import { inBrowser, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()
const day = 86_400_000

/** A stored run, as a command would have left it. */
async function addRun(
  project: TestProject,
  title: string,
  trials: readonly Partial<TrialRecord>[],
  { ageMs = 0, ...changes }: Partial<NewRun> & { readonly ageMs?: number } = {},
): Promise<{ readonly id: string; readonly dir: string }> {
  const clock = { now: () => new Date(Date.now() - ageMs) }
  const store = openStore({ env: {}, cwd: project.dir, root: project.store, clock })
  const run = createRun(store, { kind: 'scenario', title, argv: [], cwd: project.dir, ...changes })
  const records = trials.map((trial, at) => sampleRecord(`t${at + 1}`, trial))
  run.writePlan({ trials: records.map(({ id }) => ({ id })) })
  for (const record of records) {
    run.openTrial(record.id)
    run.finishTrial(record)
  }
  await run.end({ status: records.some(({ verdict }) => verdict === 'fail') ? 'fail' : 'pass' })
  return run
}

inBrowser(
  'runs are filtered by kind, verdict, agent, model, tag, text and time, by the address',
  async () => {
    const project = viewProject()
    await addRun(project, 'old one', [{ costUsd: 1 }], { ageMs: 3 * day })
    await addRun(project, 'red one', [{ agent: 'codex', verdict: 'fail' }])
    await addRun(project, 'smoke one', [{ model: 'haiku', tags: ['smoke'] }], { kind: 'plugin' })
    const { page, faults } = await openPage(browser(), await startView(project))
    const titles = async () => (await page.locator('.title a').allTextContents()).sort()
    await expect.poll(titles).toEqual(['old one', 'red one', 'smoke one'])
    const choose = async (label: string, value: string, expected: readonly string[]): Promise<void> => {
      const field = page.getByRole('combobox', { name: label })
      await field.selectOption(value)
      await expect.poll(titles).toEqual(expected)
      await field.selectOption('')
      await expect.poll(titles).toHaveLength(3)
    }
    await choose('Kind', 'plugin', ['smoke one'])
    await choose('Verdict', 'fail', ['red one'])
    await choose('Agent', 'codex', ['red one'])
    await choose('Model', 'haiku', ['smoke one'])
    await choose('Tag', 'smoke', ['smoke one'])
    await choose('Time', 'last day', ['red one', 'smoke one'])
    await page.keyboard.press('/')
    await page.keyboard.type('OLD')
    await expect.poll(titles).toEqual(['old one'])
    expect(page.url()).toContain('text=OLD')
    await page.reload()
    await expect.poll(titles).toEqual(['old one'])
    await page.getByRole('searchbox').fill('nothing like it')
    await page.getByText('No run fits these filters.').first().waitFor()
    expect(faults).toEqual([])
  },
)

inBrowser('a run is pinned, blessed and deleted, and the next cleaning is announced', async () => {
  const project = viewProject()
  const old = await addRun(project, 'forgotten', [{ costUsd: 0 }], { ageMs: 20 * day })
  const run = await addRun(project, 'fresh', [{}])
  const { page, faults } = await openPage(browser(), await startView(project))
  await page.getByText('The next cleaning removes 1 run.').click()
  await page.getByText(`${old.id}: it is too old`).first().waitFor()
  const row = page.getByRole('row').filter({ hasText: 'forgotten' })
  await row.getByRole('button', { name: 'pin', exact: true }).click()
  await row.getByRole('button', { name: 'unpin' }).waitFor()
  await page.getByText('The next cleaning removes no run.').first().waitFor()
  const fresh = page.getByRole('row').filter({ hasText: 'fresh' })
  await fresh.getByRole('button', { name: 'bless', exact: true }).click()
  await fresh.getByRole('button', { name: 'unbless' }).waitFor()
  const { flags } = JSON.parse(readFileSync(join(run.dir, 'manifest.json'), 'utf8'))
  expect(flags).toMatchObject({ blessed: true, pinned: false })
  const questions: string[] = []
  const answer = (yes: boolean) =>
    page.once('dialog', (dialog) => {
      questions.push(dialog.message())
      void (yes ? dialog.accept() : dialog.dismiss())
    })
  answer(false)
  await row.getByRole('button', { name: 'delete' }).click()
  expect(await row.count()).toBe(1)
  answer(true)
  await row.getByRole('button', { name: 'delete' }).click()
  await row.waitFor({ state: 'detached' })
  expect(questions).toHaveLength(2)
  expect(questions[0]).toContain(`Delete ${old.id}`)
  expect(faults).toEqual([])
})

inBrowser('trials are filtered and sorted, and a text is found in all transcripts of a run', async () => {
  const project = viewProject()
  const run = await addRun(project, 'mixed', [
    { case: 'steady', agent: 'a', costUsd: 0.5, durationMs: 59_960 },
    { case: 'steady', agent: 'b', costUsd: 0.1 },
    { case: 'shaky', agent: 'a', attempt: 1 },
    { case: 'shaky', agent: 'a', attempt: 2, verdict: 'fail' },
    { case: 'split', agent: 'a', verdict: 'fail' },
    { case: 'split', agent: 'b' },
    { case: 'broken', agent: 'a', verdict: 'infra', costUsd: null },
  ])
  const line = (event: object): string => `${JSON.stringify({ ts: 1, ...event })}\n`
  for (const trial of ['t1', 't5'])
    writeFileSync(
      join(run.dir, 'trials', trial, 'events.jsonl'),
      Array.from({ length: 40 }, (_, at) => line({ event: 'output', text: `line ${at}` })).join('') +
        line({ event: 'message', role: 'assistant', text: `the "needle" of ${trial}` }),
    )
  const { page, go, faults } = await openPage(browser(), await startView(project))
  await go(`/runs/${run.id}`)
  await page.getByText('700 in, 140 out').first().waitFor()
  // Not 60.0s.
  await page.locator('.trials .c-time', { hasText: /^1m$/ }).waitFor()
  const cases = () => page.locator('.trials .c-case a').allTextContents()
  for (const [chip, expected] of [
    ['failures', ['shaky', 'split']],
    ['errors', ['broken']],
    ['flaky', ['shaky', 'shaky']],
    ['different', ['split', 'split']],
  ] as const) {
    await page.getByRole('button', { name: chip, exact: true }).click()
    await expect.poll(cases).toEqual(expected)
    expect(page.url()).toContain(`only=${chip}`)
  }
  await page.getByRole('button', { name: 'all', exact: true }).click()
  await page.getByRole('button', { name: 'Cost' }).click()
  await expect.poll(async () => (await cases()).at(-1)).toBe('broken')
  await expect.poll(async () => (await cases())[0]).toBe('steady')
  await page.keyboard.press('s')
  await page.keyboard.type('"needle"')
  await page.keyboard.press('Enter')
  const hits = page.getByRole('list', { name: 'Hits' })
  await page.getByText('2 hits in 7 of 7 trials').first().waitFor()
  await hits.getByRole('link', { name: 't5' }).click()
  await page.locator('article.chosen').getByText('the "needle" of t5').first().waitFor()
  await page.goBack()
  await page.getByText('2 hits in 7 of 7 trials').first().waitFor()
  // Deleted by a command while the page is open.
  rmSync(run.dir, { recursive: true })
  await expect
    .poll(async () => {
      await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
      return await page.getByText(`there is no run "${run.id}"`).count()
    })
    .toBeGreaterThan(0)
  await page.getByRole('link', { name: 'Runs', exact: true }).first().click()
  await page.getByText('There are no runs yet.').first().waitFor()
  expect(faults).toEqual([])
})

inBrowser('copying trials takes all that the filter lets through, not only those on screen', async () => {
  const project = viewProject()
  const trials = Array.from({ length: 300 }, (_, at) => ({
    case: `case ${at}`,
    verdict: at % 2 === 0 ? ('pass' as const) : ('fail' as const),
  }))
  const run = await addRun(project, 'many', trials)
  const { page, context, go, faults } = await openPage(browser(), await startView(project))
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await go(`/runs/${run.id}?only=failures`)
  await page.getByText('150 trials').first().waitFor()
  await page.getByRole('region', { name: 'Trials' }).getByRole('button', { name: 'copy as Markdown' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const [head = '', , ...lines] = (await page.evaluate(() => navigator.clipboard.readText()))
    .trim()
    .split('\n')
  expect(head).toContain('| Verdict | Case |')
  expect(lines.filter((line) => line.startsWith('| fail | case '))).toHaveLength(150)
  expect(lines).toHaveLength(150)
  expect(faults).toEqual([])
})

inBrowser('a trend rings new versions, and two of its points open their comparison', async () => {
  const project = viewProject()
  const trials = (verdict: 'pass' | 'fail') =>
    ['x', 'y'].flatMap((name) => [{ case: name, agent: 'good', verdict }] as const)
  const ids: string[] = []
  for (const [at, [version, verdict]] of (
    [
      ['1.0', 'pass'],
      ['1.0', 'pass'],
      ['2.0', 'fail'],
    ] as const
  ).entries()) {
    const run = await addRun(project, `run ${at}`, trials(verdict), {
      ageMs: (3 - at) * 3_600_000,
      commit_sha: `c${at}`.repeat(20),
    })
    const file = join(run.dir, 'manifest.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    manifest.versions.agents = { good: version }
    writeFileSync(file, JSON.stringify(manifest))
    ids.push(run.id)
  }
  const { page, context, go, faults } = await openPage(browser(), await startView(project))
  await context.addInitScript(() => {
    Reflect.set(window, 'rings', 0)
    const { arc } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.arc = function (...words) {
      if (words[2] === 9) Reflect.set(window, 'rings', Reflect.get(window, 'rings') + 1)
      arc.apply(this, words)
    }
  })
  await go('/trends')
  await page.reload()
  await page.getByText('changed: good 2.0').first().waitFor()
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'rings'))).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'by commit' }).click()
  await page.getByRole('cell', { name: 'c2c2c2c2' }).waitFor()
  const plot = page.locator('.chart .u-over').first()
  await plot.waitFor()
  const { width = 0, height = 0 } = (await plot.boundingBox()) ?? {}
  await plot.click({ position: { x: 2, y: 4 } })
  await page.getByText(`good of ${ids[0]} is chosen.`).first().waitFor()
  await page
    .locator('.chart .u-over')
    .first()
    .click({ position: { x: width - 3, y: height - 4 } })
  await page.getByRole('heading', { name: 'Difference of the pass rates' }).waitFor()
  expect(decodeURIComponent(page.url())).toContain(`sides=${ids[0]}:good,${ids[2]}:good`)
  expect(faults).toEqual([])
})

inBrowser('the colours that a person chose stay', async () => {
  const project = viewProject()
  const { page, faults } = await openPage(browser(), await startView(project), { colorScheme: 'light' })
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(await ground()).toBe('rgb(255, 255, 255)')
  await page.getByLabel('Colours').selectOption('dark')
  await expect.poll(ground).toBe('rgb(20, 23, 26)')
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(ground).toBe('rgb(20, 23, 26)')
  expect(faults).toEqual([])
})

inBrowser('older runs are a click or a pressed key away, whatever the address says', async () => {
  const project = viewProject()
  for (let at = 0; at < 52; at += 1) await addRun(project, `run ${at}`, [], { ageMs: (52 - at) * 60_000 })
  const wide = await addRun(project, 'W'.repeat(3_000), [{ case: 'one' }])
  const other = await addRun(project, 'other suite', [{ case: 'two' }])
  const { page, go, faults } = await openPage(browser(), await startView(project))
  await page.getByText('1 to 50 of 54').first().waitFor()
  const width = () => page.locator('table.list').evaluate((table) => table.scrollWidth)
  expect(await width()).toBeLessThan(1_400)
  await page.getByRole('button', { name: 'Older' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('51 to 54 of 54').first().waitFor()
  await go('/?offset=5000')
  await page.getByText('There are only 54 runs.').first().waitFor()
  await page.getByRole('button', { name: 'Show the newest' }).click()
  await page.getByText('1 to 50 of 54').first().waitFor()
  await page.getByRole('link', { name: 'other suite' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'other suite' }).waitFor()
  await go(`/compare?sides=${wide.id},${other.id}`)
  await page.getByText('They have no case in common').first().waitFor()
  expect(await page.getByText('inconclusive').count()).toBe(0)
  await go(`/compare?sides=${wide.id}:%25,${other.id}`)
  await page.getByRole('heading', { name: 'Compare' }).waitFor()
  expect(faults).toEqual([])
})
