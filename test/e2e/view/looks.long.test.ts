import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { accessFaults, inBrowser, makeRun, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()

inBrowser(
  'every view is readable on a phone and on a wide screen, light and dark, with no serious fault of access',
  async () => {
    const project = viewProject()
    const [one, two] = [await makeRun(project), await makeRun(project)]
    const [trial = ''] = readdirSync(join(project.store, 'runs', two, 'trials'))
    const routes = [
      '/',
      `/runs/${two}`,
      `/runs/${two}/${trial}`,
      `/runs/${two}/${trial}?tab=changes`,
      `/compare?sides=${one},${two}`,
      `/side-by-side?a=${one}/${trial}&b=${two}/${trial}`,
      '/trends',
      '/labels',
    ]
    for (const [width, colorScheme] of [
      [380, 'light'],
      [1300, 'dark'],
    ] as const) {
      const view = await startView(project)
      const { page, go, faults } = await openPage(browser(), view, {
        viewport: { width, height: 800 },
        colorScheme,
      })
      for (const route of routes) {
        await go(route)
        await page.getByRole('heading', { level: 1 }).waitFor()
        expect(await page.evaluate(() => document.documentElement.scrollWidth), route).toBeLessThanOrEqual(
          width,
        )
        expect(await accessFaults(page), route).toEqual([])
      }
      expect(faults).toEqual([])
      await view.stop()
    }
  },
)
