import { expect, test } from 'vitest'
import {
  checkScenarios,
  defineAgent,
  planScenarios,
  type RunRequestInput,
  runScenarios,
  validateScenarios,
} from '../../../src/index.ts'
import { smallProject, type TestProject } from '../support/project.ts'

const environmentOf = (project: TestProject) => ({
  PATH: process.env.PATH,
  HOME: project.home,
  AGENT_ARTIFACT_DIR: project.store,
})

/** As a caller without types writes it. */
const untyped = (value: unknown) => value as RunRequestInput

test.each([
  [{ agents: 'careful' }, 'request: agents: expected a list'],
  [{ repeat: 0 }, 'request: repeat: must be at least 1'],
  [{ agent: ['x'] }, "request: unknown key 'agent', did you mean 'agents'?"],
  [{ cwd: 1 }, 'request: cwd: expected a string'],
])('the request %j is refused with the right key', async (change, message) => {
  using project = smallProject()
  const request = untyped({ cwd: project.dir, ...change })
  const refusal = { name: 'GantryError', code: 'USAGE', message: expect.stringContaining(message) }
  await expect(runScenarios(request, { env: environmentOf(project) })).rejects.toMatchObject(refusal)
  await expect(planScenarios(request, { env: environmentOf(project) })).rejects.toMatchObject(refusal)
})

test('options of every function about scenarios are checked', async () => {
  using project = smallProject()
  const place = { cwd: project.dir }
  const wrong = Object.assign({ env: environmentOf(project) }, { reporter: ['junit'] })
  await expect(runScenarios(place, wrong)).rejects.toMatchObject({
    code: 'USAGE',
    message: "runScenarios options: unknown key 'reporter', did you mean 'reporters'?",
  })
  await expect(planScenarios(place, wrong)).rejects.toMatchObject({ code: 'USAGE' })
  await expect(checkScenarios(place, wrong)).rejects.toMatchObject({ code: 'USAGE' })
  await expect(validateScenarios([], { ...place, ...wrong })).rejects.toMatchObject({ code: 'USAGE' })
})

test('the variables that hints name have an effect', async () => {
  using project = smallProject()
  const env = { ...environmentOf(project), GANTRY_AGENT: 'nobody' }
  await expect(runScenarios({ cwd: project.dir }, { env })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining('nobody'),
  })
  const broken = { ...environmentOf(project), GANTRY_BUDGET_USD: 'much' }
  await expect(planScenarios({ cwd: project.dir }, { env: broken })).rejects.toMatchObject({
    message: 'the budget in the environment is not an amount: "much"',
  })
})

test('a run that is resumed can get a higher limit, and nothing else that differs', async () => {
  using project = smallProject({ gates: [{ type: 'file_exists', path: 'done.txt' }], config: { agents: {} } })
  let runs = 0
  const agents = {
    own: defineAgent({
      name: 'own',
      run: ({ emit }) => {
        runs += 1
        emit({ event: 'usage', input_tokens: 1, output_tokens: 1, cost_usd: 1 })
      },
    }),
  }
  const options = { env: environmentOf(project), agents }
  const request = { cwd: project.dir, agents: ['own'], repeat: 3, concurrency: 1, maxCostUsd: 1 }
  const first = await runScenarios(request, options)
  expect(first.summary.notRun).toBeGreaterThan(0)
  const again = await runScenarios({ ...request, maxCostUsd: 100 }, { ...options, resume: first.runId })
  expect(again).toMatchObject({ runId: first.runId, summary: { notRun: 0 } })
  expect(runs).toBe(3)
  const changed = runScenarios({ ...request, repeat: 4 }, { ...options, resume: first.runId })
  await expect(changed).rejects.toMatchObject({
    code: 'USAGE',
    message: "a run is resumed as it was planned: 'repeat' would change it",
  })
  await runScenarios({ cwd: project.dir, maxCostUsd: 100 }, { ...options, rerunFailed: 'latest' })
  expect(runs).toBe(6)
})
