/// <reference lib="dom" />
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import AxeBuilder from 'axe-core'
import { expect } from 'vitest'
import { gantryTest } from '../support/gantry.ts'
import { agentScript } from '../support/project.ts'
import { inBrowser, makeRun, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()

/** A log with like calls, a subagent and calls of the model, and where each of its lines begins. */
function writeLog(file: string, events: readonly object[]): readonly number[] {
  const lines = events.map((event, index) => `${JSON.stringify({ ts: 100 + index, ...event })}\n`)
  writeFileSync(file, lines.join(''))
  let at = 0
  return lines.map((line) => {
    at += Buffer.byteLength(line)
    return at - Buffer.byteLength(line)
  })
}

const call = (id: string, tool: string, command: string, more: object = {}) => [
  { event: 'tool_call', id, tool, command, ...more },
  { event: 'tool_result', id, output: `result of ${command}`, exit_code: 0, ...more },
]
const modelCall = { event: 'model_call', api: 'anthropic', model: 'm', kind: 'turn', duration_secs: 0.5 }

inBrowser('like calls and subagents are folded, and a link, a search or a key opens them', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const [trial = ''] = readdirSync(join(project.store, 'runs', run, 'trials'))
  const events = [
    { ...modelCall, index: 0, status: 529, by: 'fault', fault: 'status' },
    { ...modelCall, index: 1, status: 200, by: 'script', input_tokens: 1_200, output_tokens: 34 },
    { event: 'message', role: 'assistant', text: 'I look around.' },
    ...[1, 2, 3, 4, 5].flatMap((n) => call(`r${n}`, 'Read', `file-${n}`)),
    { event: 'message', role: 'assistant', text: 'I ask another one.' },
    { event: 'tool_call', id: 'sub', tool: 'Agent', input: { description: 'look' } },
    ...call('inner', 'Bash', 'echo inside', { parent_id: 'sub' }),
    { event: 'tool_call', id: 'bad', tool: 'Bash', command: 'exit 3', parent_id: 'sub' },
    { event: 'tool_result', id: 'bad', output: 'no "luck"', exit_code: 3, parent_id: 'sub' },
    { event: 'tool_result', id: 'sub', output: 'looked' },
  ]
  const places = writeLog(join(project.store, 'runs', run, 'trials', trial, 'events.jsonl'), events)
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  await go(`/runs/${run}/${trial}`)
  const rows = page.getByRole('feed').locator('article')
  await rows.filter({ hasText: '5 calls: file-1 · file-2' }).waitFor()
  expect(await rows.filter({ hasText: 'exit 3' }).count()).toBe(0)
  await page.getByRole('feed').getByText('1,200 in, 34 out').first().waitFor()
  await page.getByRole('feed').getByText('1.0s of it the model').first().waitFor()
  // A key.
  await page.keyboard.press('f')
  await page.locator('article.chosen').getByText('status 529').first().waitFor()
  await page.keyboard.press('f')
  await page.locator('article.chosen').getByText('exit 3').first().waitFor()
  await page
    .getByRole('button', { name: '3 events of the subagent' })
    .or(page.getByText('1 failed'))
    .first()
    .click()
  await rows.filter({ hasText: 'exit 3' }).waitFor({ state: 'detached' })
  // A search, of a text that is not written like that in the log.
  await page.getByRole('searchbox').fill('no "luck"')
  await page.getByRole('list', { name: 'Found' }).getByRole('button').first().click()
  await page.locator('article.chosen mark').getByText('no "luck"').first().waitFor()
  // A link.
  await go(`/runs/${run}/${trial}?at=${places[5]}`)
  await page.locator('article.chosen').getByText('file-2').first().waitFor()
  await page.getByRole('tab', { name: 'model 2' }).click()
  await page.getByText('2 calls of m: 1 broken on purpose, status 529, 1 scripted').first().waitFor()
  await page.getByRole('button', { name: '#2' }).click()
  await page.locator('article.chosen').getByText('m turn: scripted').first().waitFor()
  expect(faults).toEqual([])
})

inBrowser(
  'what is folded or hidden keeps its turns, and does not make the tab load the whole log',
  async () => {
    const project = viewProject()
    const run = await makeRun(project)
    const [trial = ''] = readdirSync(join(project.store, 'runs', run, 'trials'))
    const usage = { event: 'usage', model: 'm', input_tokens: 1_000, output_tokens: 10, cost_usd: 0.02 }
    const events = [
      { event: 'message', role: 'assistant', text: 'I look around.' },
      ...[1, 2, 3, 4, 5].flatMap((n) => [...call(`r${n}`, 'Read', `file-${n}`), usage]),
      { event: 'message', role: 'assistant', text: 'I saw all.' },
      ...Array.from({ length: 600 }, (_, at) => ({ event: 'raw', line: `${at} ${'x'.repeat(10_000)}` })),
      { event: 'message', role: 'assistant', text: 'The end.' },
    ]
    const places = writeLog(join(project.store, 'runs', run, 'trials', trial, 'events.jsonl'), events)
    const { page, go, faults } = await openPage(browser(), await startView(project))
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes(`${trial}/events?`)) asked.push(request.url())
    })
    await go(`/runs/${run}/${trial}`)
    const feed = page.getByRole('feed')
    const group = feed.locator('article').filter({ hasText: '5 calls: file-1 · file-2' })
    // The first of the calls belongs to the turn of the message before it.
    await group.getByText('Turns 2–5').first().waitFor()
    await group.getByText('4,000 in, 40 out, $0.08').first().waitFor()
    await feed.locator('article').filter({ hasText: 'I saw all.' }).getByText('Turn 6').first().waitFor()
    await page.getByText('The last of them are hidden or folded.').first().waitFor()
    expect(asked.length).toBeLessThan(16)
    expect(await feed.getByText('The end.').count()).toBe(0)
    await page.getByRole('button', { name: 'Load more' }).click()
    await feed.getByText('The end.').first().waitFor()
    // Far in the log its first turns are not known.
    await go(`/runs/${run}/${trial}?at=${places.at(-1)}`)
    await page.reload()
    const end = feed.locator('article').filter({ hasText: 'The end.' })
    await end.waitFor()
    expect(await feed.getByText(/^Turn \d/).count()).toBe(0)
    await end.getByText('Turn', { exact: true }).first().waitFor()
    expect(faults).toEqual([])
  },
)

inBrowser('a guarded trial shows what its guard decided, in the call and beside it', async () => {
  const project = viewProject({
    'agents/worker.yaml': agentScript([{ run: 'echo X=1 > .env' }, { run: 'echo done > out.txt' }]),
  })
  project.write({
    'gantry.yaml': {
      agents: { scripted: { driver: 'scripted', script: 'agents/worker.yaml' } },
      arms: { guarded: { agent: 'scripted', guard: true }, plain: { agent: 'scripted' } },
      scenarios: ['scenarios/first.yaml'],
      fixtures_path: 'fixtures',
    },
  })
  const { run_id: run } = await gantryTest(project, ['--arms', 'plain,guarded'])
  const trial = readdirSync(join(project.store, 'runs', run, 'trials')).find((name) =>
    name.includes('guarded'),
  )
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  await go(`/runs/${run}/${trial}?tab=guard`)
  await page.getByText('denied by protect-files').first().waitFor()
  await page.getByRole('button', { name: /→ .*echo X=1/ }).click()
  await page.locator('article.chosen').getByText('denied by protect-files').first().waitFor()
  await page.getByRole('link', { name: 'the whole session' }).click()
  await page.getByRole('heading', { name: 'Denials' }).waitFor()
  await page.getByRole('link', { name: trial ?? '' }).click()
  await page.getByRole('feed').waitFor()
  expect(faults).toEqual([])
})

inBrowser('a quote of the judge leads to its event or file, and code is coloured by classes', async () => {
  const project = viewProject()
  const run = await makeRun(project)
  const [trial = ''] = readdirSync(join(project.store, 'runs', run, 'trials'))
  const dir = join(project.store, 'runs', run, 'trials', trial)
  const record = JSON.parse(readFileSync(join(dir, 'result.json'), 'utf8'))
  const quotes = [
    { criterion: 'said', text: 'out.txt is\nwritten.' },
    { criterion: 'code', text: 'const two = 2', file: 'a.ts' },
  ]
  const judge = { model: 'm', passed: true, threshold: 0.5, weighted_score: 1, confidence: 1, issues: [] }
  const rest = { scores: { said: 1, code: 1 }, highlights: [], samples: [], agreement: null, costUsd: null }
  writeFileSync(join(dir, 'result.json'), JSON.stringify({ ...record, judge: { ...judge, ...rest, quotes } }))
  writeFileSync(
    join(dir, 'workspace.diff'),
    `--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n-const one = '<img src=x onerror=hacked>'\n+const two = 2\n // end\n# 251 more files changed\n`,
  )
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  await go(`/runs/${run}/${trial}?tab=judge`)
  await page.getByRole('button', { name: '“out.txt is' }).click()
  await page.locator('article.chosen').getByText('out.txt is written.').first().waitFor()
  await page.getByRole('button', { name: '“const two = 2' }).click()
  const code = page.getByRole('figure', { name: 'changes of a.ts' })
  await page.getByText('251 more files changed, not shown.').first().waitFor()
  await code.locator('.d-add .t-keyword').getByText('const').first().waitFor()
  await code.locator('.d-remove .t-string').getByText('<img src=x onerror=hacked>').first().waitFor()
  expect(await code.locator('[style]').count()).toBe(0)
  await page.evaluate(AxeBuilder.source)
  const { violations } = await page.evaluate(() => (Reflect.get(window, 'axe') as typeof AxeBuilder).run())
  expect(violations.filter(({ impact }) => impact === 'serious').map(({ id }) => id)).toEqual([])
  await page.getByRole('link', { name: 'beside idle #1 (fail)' }).click()
  await page.getByText('First difference').first().waitFor()
  expect(faults).toEqual([])
})

inBrowser(
  'a log that no known agent wrote is shown, and an address leads into it after a reload',
  async () => {
    const project = viewProject()
    const run = await makeRun(project)
    const [trial = '', second = ''] = readdirSync(join(project.store, 'runs', run, 'trials'))
    const log = (name: string) => join(project.store, 'runs', run, 'trials', name, 'events.jsonl')
    const deep = Array.from({ length: 60 }, (_, at) => ({
      event: 'tool_call',
      id: `d${at}`,
      tool: 'Agent',
      command: `level ${at}`,
      ...(at > 0 && { parent_id: `d${at - 1}` }),
    }))
    const odd = [
      { event: 'from_the_future', what: 'is new' },
      { event: 'spawn', command: 'no-args' },
      { event: 'message', role: 'assistant' },
      { event: 'model_call', index: 'a', model: 5, kind: 9, status: 'x', by: 7, duration_secs: 'q' },
      { event: 'message', role: 'assistant', text: '/'.repeat(30_000) },
      ...deep,
    ]
    const filler = Array.from({ length: 3_000 }, (_, at) => ({
      event: 'output',
      text: `line ${at} ${'x'.repeat(200)}`,
    }))
    const places = writeLog(log(trial), [...odd, ...filler])
    writeLog(log(second), [...odd, { event: 'output', text: 'another line' }])
    const { page, go, faults } = await openPage(browser(), await startView(project))
    await go(`/runs/${run}/${trial}`)
    const feed = page.getByRole('feed')
    await feed.getByText('from_the_future').first().waitFor()
    await feed.getByText('no-args').first().waitFor()
    await go(`/runs/${run}/${trial}?tab=model`)
    await page.getByText('No call of a model was seen.').first().waitFor()
    const emptiness = () =>
      page.evaluate(() => document.documentElement.scrollHeight - document.body.offsetHeight)
    expect(await emptiness()).toBeLessThan(2)
    const at = places[odd.length + 2_500]
    expect(at).toBeLessThan(1_000_000)
    await go(`/runs/${run}/${trial}?at=${at}`)
    await page.reload()
    await page.locator('article.chosen').getByText('line 2500').first().waitFor()
    await go(`/side-by-side?a=${run}/${trial}&b=${run}/${second}`)
    await page.getByText('The first step that differs is marked in both.').first().waitFor()
    expect(faults).toEqual([])
  },
)
