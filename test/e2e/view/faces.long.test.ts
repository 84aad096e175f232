/// <reference lib="dom" />
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { LedgerEntry } from '../../../src/guard-engine/contract.ts'
import { guardHome } from '../../../src/guard-engine/ledger/ledger-place.ts'
import { openLedger } from '../../../src/guard-engine/ledger/open-ledger.ts'
import { createEvaluationFold } from '../../../src/plugin/evaluate/metrics/create-evaluation-fold.ts'
import { createRun } from '../../../src/store/create-run.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { openQueue } from '../../../src/store/queue/open-queue.ts'
import { sampleEvaluation, samplePlugin, sampleScenario } from '../../support/plugin-samples.ts'
import { sampleAnalysis } from '../../support/sample-analysis.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import type { TestProject } from '../support/project.ts'
import { accessFaults, inBrowser, openPage, startView, useBrowser, viewProject } from './lab.ts'

const browser = useBrowser()
const hostile = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'

function storeOf(project: TestProject) {
  return openStore({ env: {}, cwd: project.dir, root: project.store })
}

inBrowser('a task: board, attempts with their changes, and events that come while it runs', async () => {
  const project = viewProject()
  const store = storeOf(project)
  const queue = openQueue(store)
  const submit = (description: string, dryRun = false): string =>
    queue.submit({ repository: project.dir, description, dryRun, verbose: false, options: {} }).id
  const id = submit(`Mend it ${hostile}`)
  const dry = submit('Another one', true)
  queue.claim()
  const tell = (event: object, task = id) =>
    queue.append(task, { ts: 1, task_id: task, ...event }, 'milestone')
  const text = 'diff --git a/x.txt b/x.txt\n--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-old\n+new line\n'
  tell({ kind: 'diff', text, files: ['x.txt'] })
  const red = { kind: 'verifier_result', attempt: 1, run_id: null, status: 'FAIL', duration_ms: 5 }
  tell({ ...red, failure: hostile })
  const view = await startView(project)
  const { page, go, faults } = await openPage(browser(), view)
  await go('/tasks')
  await page.getByRole('region', { name: 'Queued' }).getByText('Another one').first().waitFor()
  expect(await accessFaults(page)).toEqual([])
  await page.getByRole('region', { name: 'Running' }).getByText('Mend it').click()
  await page.getByText('Attempt 1').first().waitFor()
  expect(await accessFaults(page)).toEqual([])
  await page.getByText('changed x.txt').click()
  await page.getByRole('figure', { name: 'changes of x.txt' }).getByText('new line').first().waitFor()
  // The page has no form here, and says how to do it.
  await page.getByText(`gantry task cancel ${id}`).first().waitFor()
  tell({ kind: 'question', text: 'Which file?', timeout_ms: 60_000 })
  await page.getByText('The Editor asks: Which file?').first().waitFor()
  tell({ kind: 'task_ended', state: 'STUCK', reason: 'twelve times red' })
  queue.end(id, { state: 'STUCK', summary: null, error_message: 'twelve times red' })
  await page.getByRole('heading', { level: 1, name: 'stuck' }).waitFor()
  // The proposal of a dry run is not a success by itself.
  queue.claim()
  tell({ ...red, failure: 'red' }, dry)
  queue.end(dry, { state: 'SUCCESS', summary: null, error_message: null })
  await go(`/tasks/${dry}`)
  await page.getByRole('heading', { level: 1, name: 'proposed' }).waitFor()
  await page.getByText('The proposed change did not pass its verification.').first().waitFor()
  expect(await page.evaluate(() => Reflect.get(window, 'ran'))).toBeUndefined()
  expect(faults).toEqual([])
  queue.close()
})

inBrowser('a guarded session: a denial explains itself with its payload', async () => {
  const project = viewProject()
  const home = guardHome({ HOME: project.home })
  const ledger = openLedger({ guardHome: home, root: project.dir, session: 'one', edition: 'test' })
  const at = '2026-01-01T00:00:00.000Z'
  const call = { id: 'c', tool: 'Bash', action: 'shell', paths: [], command: 'echo x > .env', signature: 's' }
  const who = { agent: 'codex', session: 'one', agentId: null, agentType: null, promptId: null, facts: {} }
  const event = { ...who, kind: 'tool_before', cwd: project.dir, call: { ...call, input: { text: hostile } } }
  const finding = { rule: 'protect-files', verdict: 'deny', text: 'no' }
  const decision = { verdict: 'deny', reason: `.env is protected ${hostile}`, context: null, notice: null }
  for (const entry of [
    { kind: 'event', id: 'e', at, event },
    { kind: 'decision', id: 'd_1', of: 'e', at, ...decision, findings: [finding], notes: [], engineMs: 1 },
  ])
    ledger.append(entry as unknown as LedgerEntry)
  const { page, go, faults } = await openPage(browser(), await startView(project))
  await go('/guard')
  await page.getByRole('main').getByRole('table').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByText('1 call, 1 call denied').first().waitFor()
  expect(await accessFaults(page)).toEqual([])
  await page.getByRole('complementary').getByRole('button', { name: 'Bash echo x > .env' }).click()
  await page.getByText('payload, redacted').first().waitFor()
  await page.getByText('A call that does not change the named file would pass.').first().waitFor()
  expect(page.url()).toContain('at=e')
  expect(await page.evaluate(() => Reflect.get(window, 'ran'))).toBeUndefined()
  expect(faults).toEqual([])
})

inBrowser('a plugin: what fired instead, what to change, and a failed scenario with its trial', async () => {
  const project = viewProject()
  const run = createRun(storeOf(project), { kind: 'plugin', title: 'demo', argv: [], cwd: project.dir })
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(run.dir, name), JSON.stringify(value))
  const fold = createEvaluationFold({ plugin: 'demo', prices: {} })
  const { evaluation, execution } = sampleEvaluation({ scenario: 'b', calls: ['demo:farewell'] })
  fold.add(evaluation, execution)
  const analysis = sampleAnalysis(samplePlugin('demo', { skill: ['greet', 'farewell'] }).components)
  const { findings, listing, plugin_name, plugin_path } = analysis
  const { verdict, gates, reason } = evaluation
  write('analysis.json', analysis)
  write('scenarios.json', { scenarios: [sampleScenario({ id: 'b', user_prompt: hostile })] })
  const head = { plugin_name, plugin_path, agent: 'a', model: 'm', findings, listing, not_run: [] }
  write('evaluation.json', { ...head, summary: fold.finish(), results: [] })
  const gate = { line: 3, detail: {}, ...gates[0], type: 'component_triggered', passed: false }
  const message = 'skill demo:farewell fired at 12:00:01.000Z, call toolu_1'
  const dir = run.openTrial('b')
  run.finishTrial(
    sampleRecord('b', {
      case: 'b',
      verdict,
      reason,
      file: 'skills/greet/SKILL.md',
      gates: [{ ...gate, message }],
    }),
  )
  const call = { ts: 1, event: 'tool_call', id: 'toolu_1', tool: 'Skill', input: { skill: 'demo:farewell' } }
  writeFileSync(join(dir, 'events.jsonl'), `${JSON.stringify(call)}\n`)
  const { page, context, go, faults } = await openPage(browser(), await startView(project))
  await go('/plugins')
  expect(await accessFaults(page)).toEqual([])
  await page.getByRole('link', { name: 'demo' }).click()
  const fired = page.getByRole('region', { name: 'What fired instead' })
  await fired.getByRole('columnheader', { name: 'skill:farewell' }).waitFor()
  await page.getByRole('region', { name: 'What to change' }).getByText('fired instead').first().waitFor()
  expect(await accessFaults(page)).toEqual([])
  await page.getByRole('region', { name: 'Failed scenarios' }).getByRole('link', { name: 'b' }).click()
  await page.getByRole('heading', { level: 1, name: 'fail' }).waitFor()
  const evidence = page.getByRole('complementary')
  await evidence.getByText('skills/greet/SKILL.md:3').first().waitFor()
  await evidence.getByRole('button', { name: '→ Skill' }).click()
  await page.locator('article.chosen').getByText('demo:farewell').first().waitFor()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'copy command' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    `gantry plugin run --fast --failed-run ${run.id}`,
  )
  expect(await page.evaluate(() => Reflect.get(window, 'ran'))).toBeUndefined()
  expect(faults).toEqual([])
})
