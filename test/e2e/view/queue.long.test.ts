import { afterAll, beforeAll, expect } from 'vitest'
import { openTrialQueue } from '../../../src/store/trial-queue/open-trial-queue.ts'
import { needs } from '../../support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { hasBrowser, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()
let server: PostgresServer
beforeAll(async () => {
  if (hasPostgres) server = await startPostgres()
})
afterAll(() => server?.stop())

const hostile = '<img src=x onerror="window.ran=1">'
const inBoth = needs('browser and PostgreSQL', hasBrowser && hasPostgres)

inBoth('the queue stays on the page while its database is away, comes back, and is text', async () => {
  const url = await server.database()
  const queue = await openTrialQueue(url)
  const trial = (id: string) => ({
    ...{ id, spec: '{}', group: hostile, expectedUsd: null },
    need: { agent: 'a', labels: [hostile], memoryMb: 0, gantry: '1' },
  })
  await queue.submit({
    ...{ id: hostile, planHash: 'h', document: '{}', project: 'p', capUsd: null, priority: 0 },
    trials: [trial('one'), trial('two')],
  })
  await queue.register({
    ...{ id: `worker ${hostile}`, host: hostile, slots: 2, gantry: hostile, labels: [hostile], memoryMb: 1 },
    ...{ agents: { a: hostile }, onlyAgents: [hostile], refusals: { x: hostile } },
  })
  await queue.claim(`worker ${hostile}`, () => true)
  await queue.pause(hostile, null, hostile)
  await queue.close()
  const { page, go, faults } = await openPage(browser(), await startView(viewProject(), ['--queue', url]))
  await go('/queue')
  const waits = page.getByRole('region', { name: 'What waits' })
  await waits.getByText(`trials of ${hostile} are paused: ${hostile}`).first().waitFor()
  await page.getByRole('region', { name: 'Workers' }).getByText('1 of 2').first().waitFor()
  expect(await page.locator('main img').count()).toBe(0)
  server.process()?.kill('SIGKILL')
  const alert = page.getByRole('alert')
  // A server that others use is not killed.
  if (server.process() !== null) await alert.getByText('the PostgreSQL server').first().waitFor()
  await page
    .getByText(/^As of \d\d:\d\d:\d\d/)
    .first()
    .waitFor()
  await waits.getByRole('cell', { name: '1', exact: true }).first().waitFor()
  await server.restart()
  await alert.waitFor({ state: 'detached' })
  expect(await page.evaluate(() => Reflect.get(window, 'ran'))).toBeUndefined()
  expect(faults).toEqual([])
})
