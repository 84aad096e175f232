import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { client, savingModel } from '../boundary/lab.ts'
import { gantryTest, startGantry } from '../support/gantry.ts'
import { accessFaults, inBrowser, makeRun, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()

inBrowser('a code signs one browser in, once, with a cookie that scripts cannot read', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const view = await startView(project)
  const { page, context, faults } = await openPage(browser(), view)
  await page
    .getByRole('link', { name: /first|scenarios/ })
    .first()
    .waitFor()
  expect(page.url()).not.toContain('code=')
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
  expect(await page.evaluate(() => document.cookie)).toBe('')
  const other = await browser().newContext()
  const second = await other.newPage()
  await second.goto(view.address)
  await second.getByText('This browser is not signed in.').first().waitFor()
  expect(await second.content()).not.toContain(run)
  await other.close()
  expect(faults).toEqual([])
})

inBrowser('by keyboard alone: from the list to a failed trial, its gates and back', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const view = await startView(project)
  const { page, faults } = await openPage(browser(), view)
  await page.getByText(run).first().waitFor()
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.getByRole('button', { name: 'copy as Markdown' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('Control+V')
  expect(await page.getByRole('searchbox').inputValue()).toMatch(
    new RegExp(`^\\| Verdict \\| Run \\| Kind .*\\| --- .*\\| ✗ fail \\| .*${run}.* \\| scenario \\| 4 \\|`),
  )
  await page.getByRole('searchbox').fill('')
  await page.keyboard.press('Escape')
  await page.getByText(run).first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Pass rates' }).waitFor()
  await page.getByRole('table', { name: 'Trials' }).waitFor()
  for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key)
  await page.getByText('Timeline').or(page.getByRole('feed')).first().waitFor()
  await page.getByText('file_contains').first().waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('next event').first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('u')
  await page.getByRole('heading', { name: 'Pass rates' }).waitFor()
  expect(faults).toEqual([])
})

inBrowser('a gate leads to the call it rests on and to the change of the workspace', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const [trial = ''] = readdirSync(join(project.store, 'runs', run, 'trials'))
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  await go(`/runs/${run}/${trial}`)
  await page.getByRole('button', { name: '→ Bash: echo done > out.txt' }).first().click()
  await page.locator('article.chosen').getByText('echo done > out.txt').first().waitFor()
  expect(page.url()).toMatch(/at=\d+/)
  await page.getByRole('button', { name: 'out.txt:1' }).click()
  await page.getByRole('figure', { name: 'changes of out.txt' }).getByText('done').first().waitFor()
  // Over plain HTTP from another machine a page has no clipboard of its own.
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  await page.getByRole('button', { name: 'copy command' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.getByPlaceholder('note, why').focus()
  await page.keyboard.press('Control+V')
  expect(await page.getByPlaceholder('note, why').inputValue()).toMatch(/^gantry test .*first.yaml/)
  // The address opens the same place again.
  await page.reload()
  await page.getByRole('figure', { name: 'changes of out.txt' }).waitFor()
  await page.locator('article.chosen').getByText('echo done > out.txt').first().waitFor()
  expect(faults).toEqual([])
})

const hostile = readFileSync(new URL('../../corpus/hostile-transcripts.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => JSON.parse(line) as string)

inBrowser('whatever an agent wrote is text: nothing of it runs', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const trials = join(project.store, 'runs', run, 'trials')
  const [trial = ''] = readdirSync(trials)
  const events = hostile.flatMap((text, at) => [
    { ts: at, event: 'message', role: 'assistant', text },
    { ts: at, event: 'tool_call', id: `h${at}`, tool: text, command: text, input: { [text]: text } },
    { ts: at, event: 'tool_result', id: `h${at}`, output: text, exit_code: 1 },
    { ts: at, event: 'hook', hook: text, output: text },
  ])
  writeFileSync(
    join(trials, trial, 'events.jsonl'),
    events.map((event) => `${JSON.stringify(event)}\n`).join(''),
  )
  writeFileSync(
    join(trials, trial, 'workspace.diff'),
    hostile
      .map(
        (text) =>
          `--- /dev/null\n+++ ${text.replaceAll('\n', ' ')}\n@@ -0,0 +1,1 @@\n+${text.replaceAll('\n', ' ')}\n`,
      )
      .join(''),
  )
  const stored = join(trials, trial, 'result.json')
  const record = JSON.parse(readFileSync(stored, 'utf8'))
  const changed = {
    ...record,
    prompt: hostile.join('\n'),
    reason: hostile.join(' '),
    gates: hostile.map((text) => ({ type: text, passed: false, message: text, detail: { [text]: text } })),
  }
  writeFileSync(stored, JSON.stringify(changed))
  appendFileSync(
    join(project.store, 'runs', run, 'trials.jsonl'),
    `${JSON.stringify({ ...changed, case: hostile.join(' ') })}\n`,
  )
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    void dialog.dismiss()
  })
  for (const route of [
    `/runs/${run}`,
    `/runs/${run}/${trial}`,
    `/runs/${run}/${trial}?tab=changes`,
    `/runs/${run}/${trial}?tab=facts`,
    '/trends',
    '/compare',
  ]) {
    await go(route)
    await page.keyboard.press('e')
    await page.waitForTimeout(200)
  }
  expect(await page.evaluate(() => Reflect.get(window, 'hacked'))).toBe(undefined)
  expect(
    await page
      .locator('main script, main iframe, main object, main embed, main img, main a[href^="javascript"]')
      .count(),
  ).toBe(0)
  expect(dialogs).toEqual([])
  expect(faults).toEqual([])
})

inBrowser('a live run is followed, over a reload and a server that was killed', async () => {
  const project = viewProject()
  const gate = project.path('gate')
  mkdirSync(gate)
  project.write({
    'slow.sh': `printf '%s\\n' '{"event":"message","role":"assistant","text":"I begin."}'; n=$(ls "${gate}" | grep -c took); : > "${gate}/took-$n"; while [ ! -e "${gate}/go-$n" ]; do sleep 0.05; done; exec sh "${project.path('good.sh')}"`,
  })
  const { ended } = startGantry(project, [
    'test',
    '--agent',
    'slow',
    '--repeat',
    '3',
    '-j',
    '1',
    '--no-cache',
  ])
  const runs = join(project.store, 'runs')
  await expect
    .poll(() => {
      try {
        return readdirSync(runs).length
      } catch {
        return 0
      }
    })
    .toBe(1)
  const [run = ''] = readdirSync(runs)
  const view = await startView(project)
  const { page, go } = await openPage(browser(), view)
  const second = await page.context().newPage()
  await go(`/runs/${run}`)
  await second.goto(`${view.url}/#/runs/${run}`)
  const trials = (one: typeof page) => one.locator('.sentence').first().textContent()
  await page.getByText('Live').first().waitFor()
  // A trial can be looked at while it runs.
  await page.getByText('0 trials ended, 1 under way').first().waitFor()
  await second.getByRole('table', { name: 'Trials' }).getByRole('link').first().click()
  await second.getByText('Write done to out.txt, for first.').first().waitFor()
  await second.getByRole('feed').getByText('I begin.').first().waitFor()
  const finish = (from: number, to: number): void => {
    for (let at = from; at <= to; at += 1) writeFileSync(join(gate, `go-${at}`), '')
  }
  finish(0, 1)
  await second.getByRole('feed').getByText('out.txt is written.').first().waitFor()
  await second.getByText('file_contains').first().waitFor()
  await second.goBack()
  await expect.poll(() => trials(page)).toContain('2 of 6')
  await expect.poll(() => trials(second)).toContain('2 of 6')
  await page.reload()
  finish(2, 2)
  await expect.poll(() => trials(page)).toContain('3 of 6')
  await view.stop('SIGKILL')
  finish(3, 4)
  const again = await startView(project, ['--port', new URL(view.url).port])
  await expect.poll(() => trials(page)).toContain('5 of 6')
  finish(5, 9)
  await ended
  await expect.poll(() => trials(page)).toContain('6 counted trials passed')
  await expect.poll(() => trials(second)).toContain('6 counted trials passed')
  await again.stop()
})

inBrowser('a view that was not loaded when the server stopped comes when it is back', async () => {
  const project = viewProject()
  await makeRun(project)
  const view = await startView(project)
  const { page, faults } = await openPage(browser(), view)
  await view.stop('SIGKILL')
  await page.getByRole('link', { name: 'Trends' }).click()
  await page.getByText('The server does not answer.').first().waitFor()
  await startView(project, ['--port', new URL(view.url).port])
  await page.getByRole('heading', { level: 1, name: 'Trends' }).waitFor()
  await page.locator('.chart canvas').first().waitFor()
  expect(faults).toEqual([])
})

inBrowser('what is damaged or gone is said, and the rest works', async () => {
  const project = viewProject()
  const [one, two] = [await makeRun(project), await makeRun(project)]
  const dir = join(project.store, 'runs', one)
  const [trial = '', other = ''] = readdirSync(join(dir, 'trials'))
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  writeFileSync(
    join(dir, 'trials', trial, 'events.jsonl'),
    [
      '{"ts":1,"event":"note","level":"info","message":"an unbroken line"}',
      '{"ts":2,"event":"note","level":"in',
      '{"ts":4,"event":"note","level":"info","message":"after the cut"}',
      '{"ts":5,"ev',
    ].join('\n'),
  )
  await go(`/runs/${one}/${trial}`)
  await page.getByText('an unbroken line').first().waitFor()
  await page.getByText('after the cut').first().waitFor()
  // A record of an older version lacks what came later.
  const {
    id,
    case: name,
    verdict,
  } = JSON.parse(readFileSync(join(dir, 'trials', other, 'result.json'), 'utf8'))
  writeFileSync(
    join(dir, 'trials', other, 'result.json'),
    JSON.stringify({
      id,
      case: name,
      agent: 'old',
      model: 'default',
      attempt: 1,
      verdict,
      reason: 'old record',
      gates: [],
      metrics: {},
      judge: null,
      evaluators: [],
      tags: [],
      warnings: [],
      startedAt: '2020-01-01T00:00:00Z',
      durationMs: 1,
      costUsd: null,
      tokens: null,
      score: null,
      tier: null,
      dir: '',
      file: 'x',
      infraRetries: 0,
      cachedFrom: null,
      cacheKey: null,
      ending: 'exited',
      agentExitCode: 0,
    }),
  )
  await go(`/runs/${one}/${other}`)
  await page.getByText('old record').first().waitFor()
  writeFileSync(join(dir, 'trials', other, 'result.json'), '{')
  await page.reload()
  await page.getByRole('alert').getByText('result.json').first().waitFor()
  expect(await page.getByText('before there was a verdict').count()).toBe(0)
  writeFileSync(join(dir, 'manifest.json'), '{')
  await go(`/runs/${one}`)
  await page.getByText('manifest is missing or damaged').first().waitFor()
  await go(`/runs/${two}`)
  await page.getByRole('heading', { name: 'Pass rates' }).waitFor()
  // Its page says so at once, although it does not follow a run that has ended.
  rmSync(join(project.store, 'runs', two), { recursive: true })
  await page.getByText(`there is no run`).first().waitFor()
  await go('/runs/nonsense')
  await page.getByText('is not a run id').first().waitFor()
  await page.getByText('Choose what you look for from the menu above.').first().waitFor()
  await go('/nowhere')
  await page.getByText('There is no such page.').first().waitFor()
  await go('/')
  await page.getByText(one).first().waitFor()
  expect(faults).toEqual([])
})

inBrowser('a cassette that is gone is named, and the replayed trial beside it is whole', async () => {
  const project = viewProject({ 'model.yaml': savingModel })
  const ask = client('--stream', 'write').join(' ')
  project.write({
    'gantry.yaml': {
      agents: {
        mine: {
          driver: 'command',
          command: ['sh', project.path('ask.sh')],
          output: 'events',
          model_script: 'model.yaml',
        },
      },
      scenarios: ['scenarios/*.yaml'],
      fixtures_path: 'fixtures',
    },
    'ask.sh': ask,
  })
  await gantryTest(project, ['--replay', 'record'])
  const tape = (name: string) => project.path(`cassettes/${name}/mine-default/1`)
  expect(existsSync(join(tape('second'), 'cassette.json'))).toBe(true)
  // Both cassettes are there when the run begins.
  project.write({ 'ask.sh': `rm -r "${tape('second')}"; ${ask}` })
  const { run_id: run } = await gantryTest(project, ['--replay', 'strict', '-j', '1'])
  rmSync(project.path('cassettes'), { recursive: true })
  const { page, go, faults } = await openPage(browser(), await startView(project))
  await go(`/runs/${run}`)
  const row = (name: string) => page.getByRole('table', { name: 'Trials' }).getByRole('link', { name })
  await row('second').click()
  await page.getByRole('heading', { level: 1, name: 'invalid' }).waitFor()
  await page
    .locator('.sentence')
    .getByText(`there is no cassette at ${tape('second')}`)
    .first()
    .waitFor()
  await go(`/runs/${run}`)
  await row('first').click()
  await page.getByRole('tab', { name: 'model 2' }).click()
  await page.getByText('2 calls of claude-sonnet-5: 2 replayed').first().waitFor()
  expect(faults).toEqual([])
})

inBrowser('a verification shows its steps with verdict and log, and what they made', async () => {
  const project = viewProject({
    'agent.yaml': {
      verification: {
        container_image: 'node:24',
        steps: [
          { name: 'lint', command: 'echo all tidy; echo 7 > /artifacts/count.txt' },
          { name: 'test', command: 'echo "expected 1 to be 2"; exit 3' },
        ],
      },
    },
  })
  const { stdout } = await startGantry(project, ['verify', '--sandbox', 'bubblewrap', '--json']).ended
  const { run_id: run } = JSON.parse(stdout)
  const view = await startView(project)
  const { page, faults } = await openPage(browser(), view)
  await page.locator('.title a').first().click()
  await page.getByText('1 of 2 commands succeeded.').first().waitFor()
  const steps = page.getByRole('region', { name: 'Steps' }).getByRole('listitem')
  await steps.nth(1).getByText('exit 3,').first().waitFor()
  await steps.nth(1).getByText('expected 1 to be 2').last().waitFor()
  await steps.nth(0).getByText('log', { exact: true }).click()
  await steps.nth(0).getByText('all tidy').last().waitFor()
  await page.getByRole('region', { name: 'Artifacts' }).getByText('count.txt').click()
  await page.getByRole('region', { name: 'Artifacts' }).getByText('7', { exact: true }).first().waitFor()
  expect(await page.getByRole('region', { name: 'Trials' }).count()).toBe(0)
  expect(page.url()).toContain(run)
  expect(faults).toEqual([])
})

inBrowser('the queue shows what waits for a worker, and who works', async () => {
  const project = viewProject()
  const queue = ['--queue', `sqlite:${project.path('queue.db')}`]
  const plain = await startView(project)
  const none = await openPage(browser(), plain)
  await none.go('/queue')
  await none.page.getByText('gantry view --queue').first().waitFor()
  expect(await none.page.getByRole('link', { name: 'Queue' }).count()).toBe(0)
  const { ended } = startGantry(project, ['test', '--agent', 'good', '--no-cache', ...queue])
  const view = await startView(project, queue)
  const { page, faults } = await openPage(browser(), view)
  await page.getByRole('link', { name: 'Queue' }).click()
  const waits = page.getByRole('region', { name: 'What waits' })
  await waits.getByText('no worker is running').first().waitFor()
  await waits.getByRole('cell', { name: '2', exact: true }).first().waitFor()
  const { child, ended: left } = startGantry(project, ['work', ...queue])
  onTestFinished(() => void child.kill('SIGKILL'))
  await page.getByRole('region', { name: 'Workers' }).getByText('of ').first().waitFor()
  await page.getByRole('region', { name: 'Runs' }).getByText('ended').first().waitFor()
  expect(await accessFaults(page)).toEqual([])
  child.kill('SIGTERM')
  await page.getByText('No worker is running.').first().waitFor()
  await Promise.all([ended, left])
  expect(faults).toEqual([])
})

inBrowser('an exported folder is the same page over files, from any web server', async () => {
  const project = viewProject()
  const [one, two] = [await makeRun(project), await makeRun(project)]
  const trials = join(project.store, 'runs', two, 'trials')
  const [trial = ''] = readdirSync(trials)
  const idle = readdirSync(trials).find((name) => name.includes('idle')) ?? ''
  writeFileSync(
    join(trials, idle, 'events.jsonl'),
    Array.from(
      { length: 1_000 },
      (_, at) => `${JSON.stringify({ ts: at, event: 'output', text: `"row ${at}" ${'x'.repeat(2_000)}` })}\n`,
    ).join(''),
  )
  const { code, stderr } = await startGantry(project, ['view', '--export', 'report', one, two]).ended
  expect(code, stderr).toBe(0)
  const types: Record<string, string> = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
    json: 'application/json',
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname)
    const file = project.path(join('report', path === '/' ? 'index.html' : path))
    try {
      response.setHeader('content-type', types[file.split('.').at(-1) ?? ''] ?? 'text/plain')
      response.end(readFileSync(file))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const { page, go, faults } = await openPage(browser(), { url, address: `${url}/` })
  await page.getByText(two).first().waitFor()
  await go(`/runs/${two}?only=failures`)
  await page.getByText('2 trials').first().waitFor()
  await go(`/runs/${two}/${trial}`)
  await page.getByText('echo done > out.txt').first().waitFor()
  await page.getByRole('searchbox').fill('is written')
  const found = page.getByRole('list', { name: 'Found' })
  await found.getByRole('button', { name: 'assistant: out.txt is written.' }).waitFor()
  expect(await found.locator('mark').allTextContents()).toEqual(['is written'])
  await page.keyboard.press('Escape')
  // A hit that is not at the beginning of an exported part, after more hits than are shown at first.
  await go(`/runs/${two}/${idle}`)
  await page.getByRole('searchbox').fill('"row ')
  await found.getByRole('button', { name: 'output: "row 3"' }).waitFor()
  expect(await found.getByText('"row 999"').count()).toBe(0)
  const on = found.getByRole('button', { name: 'Search on' })
  while ((await on.count()) > 0) {
    const before = await found.getByRole('listitem').count()
    await on.click()
    await expect.poll(() => found.getByRole('listitem').count()).not.toBe(before)
  }
  await found.getByText('"row 999"').first().waitFor()
  await found.getByText('"row 899"').click()
  await page.locator('article.chosen').getByText('row 899').first().waitFor()
  await page.getByRole('button', { name: 'Load what came before' }).click()
  await page.getByRole('feed').getByText('row 897').first().waitFor()
  // What a server would choose, count or compare.
  const rows = () => page.locator('.title a').count()
  await go('/?agent=good')
  await expect.poll(rows).toBe(2)
  await go('/?agent=nobody')
  await page.getByText('No run fits these filters.').first().waitFor()
  await go('/?time=last+day&status=pass')
  await page.getByText('No run fits these filters.').first().waitFor()
  await go(`/runs/${two}?agent=idle&only=different`)
  await page.getByText('2 trials').first().waitFor()
  await go(`/runs/${two}?find=is+written`)
  await page.getByText('2 hits in 4 of 4 trials').first().waitFor()
  await go('/trends?agent=idle&case=first')
  await expect.poll(() => page.getByRole('button', { name: 'choose' }).count()).toBe(2)
  await go(`/compare?sides=${one}:good,${two}:idle&margin=0.1`)
  await page.getByRole('heading', { name: 'Difference of the pass rates' }).waitFor()
  await page.getByText('-100 points').first().waitFor()
  expect(faults).toEqual([])
})
