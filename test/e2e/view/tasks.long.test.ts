import { once } from 'node:events'
import { expect } from 'vitest'
import { git } from '../plan/lab.ts'
import { startGantry } from '../support/gantry.ts'
import { afterwards, aTask, envOf, makeRepository, sum, tested } from '../task/lab.ts'
import { openModel } from '../task/model.ts'
import { accessFaults, inBrowser, openPage, useBrowser } from './lab.ts'

const browser = useBrowser()

inBrowser(
  'a task is submitted, cancelled and tried again, and its change is applied, undone, dropped and committed',
  async () => {
    const model = await openModel({ edits: () => [sum('+'), tested()] })
    const project = makeRepository()
    const { child, ended } = startGantry(project, ['serve', '--port', '0', '--log', 'none'], {
      env: envOf(project, model),
    })
    afterwards(async () => {
      child.kill('SIGKILL')
      await ended
    })
    if (child.stdout === null) throw new Error('a child has a standard output')
    let printed = ''
    while (!printed.includes('#code=')) printed += (await once(child.stdout, 'data'))[0]
    const [address = '', url = ''] = /(http:\S+?)\/#code=\S+/.exec(printed) ?? []
    const { page, go, faults } = await openPage(browser(), { url, address })
    // The form leaves the sandbox to the server; the tests have this one everywhere.
    await page.route('**/v1/tasks', (route) => {
      const body = route.request().postDataJSON()
      return route.continue(body === null ? {} : { postData: { ...body, sandbox: 'bubblewrap' } })
    })
    const button = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true })
    const isState = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
    await go('/tasks')
    const arrived = model.hold('scout_a')
    await page.keyboard.press('c')
    await page.keyboard.type(aTask)
    await button('Submit').click()
    await isState('running')
    const letGo = await arrived
    await button('cancel').click()
    await button('keep it').click()
    await button('cancel').click()
    await button('cancel it').click()
    await isState('cancelled')
    letGo()
    const first = page.url()
    await button('retry').click()
    await isState('success')
    expect(page.url()).not.toBe(first)
    expect(await accessFaults(page)).toEqual([])
    const source = () => project.read('src/add.js')
    const answer = async (action: string, word: string): Promise<void> => {
      await button(action).click()
      await button(word).click()
    }
    await answer('apply to your tree', 'no')
    expect(source()).toContain('a - b')
    await answer('apply to your tree', 'yes, apply to your tree')
    await page.getByText('The change is in your tree now.').first().waitFor()
    expect(source()).toContain('a + b')
    await answer('undo', 'yes, undo')
    await page.getByText('The change is not in your tree any more.').first().waitFor()
    expect(source()).toContain('a - b')
    await answer('drop', 'yes, drop')
    await page.getByText('The change is dropped.').first().waitFor()
    await button('drop').waitFor({ state: 'detached' })
    await answer('commit', 'yes, commit')
    const [, branch = ''] =
      /Committed on (\S+) as/.exec((await page.getByText(/^Committed on/).textContent()) ?? '') ?? []
    expect(git(project, 'show', `${branch}:src/add.js`)).toContain('a + b')
    expect(source()).toContain('a - b')
    expect(faults).toEqual([])
  },
)
