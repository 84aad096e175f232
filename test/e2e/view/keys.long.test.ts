import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { gantryTest } from '../support/gantry.ts'
import { inBrowser, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()

async function helpHas(page: Page, words: string): Promise<void> {
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText(words).first().waitFor()
  await page.keyboard.press('Escape')
}

inBrowser('arms, their comparison and their trend: links and keys lead from one to the other', async () => {
  const project = viewProject()
  project.write({
    'gantry.yaml': {
      agents: {
        good: { driver: 'command', command: ['sh', './good.sh'], output: 'events' },
        idle: { driver: 'command', command: ['true'], output: 'events' },
      },
      arms: { base: { agent: 'good' }, other: { agent: 'idle', model: 'small' } },
      scenarios: ['scenarios/*.yaml'],
      fixtures_path: 'fixtures',
    },
  })
  const { run_id: run } = await gantryTest(project, ['--arms', 'base,other'])
  const { page, go, faults } = await openPage(browser(), await startView(project))
  await go(`/runs/${run}`)
  const looked = page.getByRole('region', { name: 'Trials to look at' })
  await looked.getByRole('link', { name: /other/ }).first().click()
  await page.getByRole('heading', { level: 1, name: 'fail' }).waitFor()
  await page.goBack()
  await page.getByRole('link', { name: 'compare', exact: true }).click()
  await page
    .getByText(/other is worse than base|cannot tell yet/)
    .first()
    .waitFor()
  expect(decodeURIComponent(page.url())).toContain(`sides=${run}:base,${run}:other`)
  await helpHas(page, 'next case')
  await page.keyboard.press('/')
  await page.keyboard.type('SECOND')
  await page.getByRole('cell', { name: 'first', exact: true }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await page.keyboard.press('j')
  await page.locator('tr.chosen').getByText('second').first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('First difference').first().waitFor()
  await go('/trends')
  await page.getByRole('rowheader').first().waitFor()
  await helpHas(page, 'next point')
  for (const key of ['j', 'Enter']) await page.keyboard.press(key)
  await page
    .getByText(/of run_\S+ is chosen/)
    .first()
    .waitFor()
  for (const key of ['j', 'Enter']) await page.keyboard.press(key)
  await page.getByRole('heading', { name: 'Difference of the pass rates' }).waitFor()
  // A model that is named is named in its side, too.
  expect(decodeURIComponent(decodeURIComponent(page.url()))).toContain(`${run}:other/small`)
  await go('/trends')
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like it')
  await page.getByText('No point fits.').first().waitFor()
  expect(faults).toEqual([])
})

inBrowser(
  'a trial is labelled with two keys, and the labels page shows how far its judge is trusted',
  async () => {
    const project = viewProject()
    const { run_id: run } = await gantryTest(project, ['--agent', 'good', '--no-cache'])
    const trials = join(project.store, 'runs', run, 'trials')
    const judge = { model: 'some-judge', passed: true, threshold: 0.5, weighted_score: 1, confidence: 1 }
    const rest = { issues: [], scores: {}, highlights: [], samples: [], agreement: null, costUsd: null }
    for (const trial of readdirSync(trials)) {
      const file = join(trials, trial, 'result.json')
      const record = JSON.parse(readFileSync(file, 'utf8'))
      writeFileSync(file, JSON.stringify({ ...record, judge: { ...judge, ...rest } }))
    }
    const [first = '', second = ''] = readdirSync(trials)
    const { page, go, faults } = await openPage(browser(), await startView(project))
    await go(`/runs/${run}/${first}`)
    await page.getByRole('group', { name: 'Your label' }).waitFor()
    await page.keyboard.press('+')
    await page.getByRole('button', { name: /^good/, pressed: true }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('heading', { level: 1, name: 'second' }).waitFor()
    await page.getByPlaceholder('note, why').fill('too short')
    await page.keyboard.press('Escape')
    await page.keyboard.press('-')
    await page.getByRole('button', { name: /^bad/, pressed: true }).waitFor()
    await go('/labels')
    const ofJudge = page.getByRole('region', { name: 'some-judge' })
    // The sentence of the terminal.
    await ofJudge.getByText('uncalibrated judge: 2 of 30 labels (gantry label)').first().waitFor()
    await ofJudge
      .getByRole('row', { name: /^agreement/ })
      .getByText('50%')
      .first()
      .waitFor()
    await helpHas(page, 'next label')
    await page.keyboard.press('/')
    await page.keyboard.type('too sh')
    await page.getByRole('link', { name: 'first' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Escape')
    for (const key of ['j', 'Enter']) await page.keyboard.press(key)
    await page.getByRole('feed').waitFor()
    expect(page.url()).toContain(second)
    expect(faults).toEqual([])
  },
)
