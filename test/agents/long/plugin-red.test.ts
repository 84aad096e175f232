import { expect, test } from 'vitest'
import type { IncomingCall } from '../../../src/models/boundary/contract.ts'
import { answersIn, opening } from '../../../src/models/boundary/script/subagent-wait.ts'
import { behaviours, modelScript } from '../../e2e/plugin/behaviours.ts'
import { type CountedModel, openCountedModel } from '../../e2e/plugin/counted-model.ts'
import { kitchenProject, latestRun, readRun } from '../../e2e/plugin/lab.ts'
import { runIds, runPath, until } from '../../e2e/robustness/lab.ts'
import { gantry, startGantry } from '../../e2e/support/gantry.ts'
import type { TestProject } from '../../e2e/support/project.ts'
import { descendantsOf } from '../../support/descendants-of.ts'
import { isAlive } from '../../support/is-alive.ts'
import { whenInstalled } from '../support/when-installed.ts'

const tried = behaviours.filter(({ id }) =>
  ['how-skill-rightly', 'how-skill-never', 'how-mcp-server-rightly'].includes(id),
)
const argv = ['plugin', 'run', '--filter', 'how-', '-j', '1', '--no-batch', '--progress', 'jsonl']

/** Which scenario is asked for, and the how manieth answer of it: the same twice is paid twice. */
function nameOf({ call }: IncomingCall): string {
  const scenario = /\((how-[\w-]+)\)/.exec([call.system, opening(call)].join('\n'))?.[1]
  return `${scenario ?? 'another'} ${answersIn(call)}`
}

/** No counted model writes scenarios. */
function project(): TestProject {
  const made = kitchenProject({
    id: 'claude-code',
    behaviours: tried,
    isScripted: false,
    config: { generation: { scenarios_per_component: 1, model: 'scripted:writer.yaml' }, max_concurrent: 1 },
  })
  made.write({ 'writer.yaml': { answers: [{ match: 'kitchen', text: 'I would rather not.' }] } })
  return made
}

function openModel(): Promise<CountedModel> {
  return openCountedModel(modelScript(tried), nameOf)
}

/** A run apart from its times, ids and paths. */
function contentOf(dir: string | null): unknown {
  if (dir === null) throw new Error('there is no run')
  const { trials, document } = readRun(dir)
  const { counts, accuracy, conflicts, by_component: components } = document.summary
  return {
    counts,
    accuracy,
    conflicts,
    components,
    trials: trials.map(({ scenario_id, verdict, triggered, confidence, conflict, detections }) => ({
      scenario_id,
      verdict,
      triggered,
      confidence,
      severity: conflict.conflict_severity,
      fired: detections.map(({ component_type, name }) => `${component_type}:${name}`),
    })),
  }
}

whenInstalled(['claude-code'], 'an evaluation that is disturbed', () => {
  test('exits with 130 at Ctrl-C, leaves no process, stays locked, and resumes to the same result', async () => {
    const model = await openModel()
    using undisturbed = project()
    using disturbed = project()
    await gantry(undisturbed, argv, { env: model.env })
    const whole = model.answered.length
    const second = model.answered.find((name) => name !== model.answered[0] && name.endsWith(' 0')) ?? ''
    model.hold((name) => name === second)
    const { child, ended } = startGantry(disturbed, argv, { env: model.env })
    await until('the second trial waits for its model', () => model.held.length > 0)
    const below = descendantsOf(child.pid ?? 0)
    expect(below.length).toBeGreaterThan(0)
    const run = latestRun(disturbed)?.split('/').at(-1) ?? ''
    const other = await gantry(disturbed, ['plugin', 'resume', run], { env: model.env })
    expect(other).toMatchObject({ code: 3, stderr: expect.stringContaining(`is working on run ${run}`) })
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    await until('nothing of it is alive', () => below.every((pid) => !isAlive(pid)))
    model.hold(() => false)
    await gantry(disturbed, ['plugin', 'resume', run, '--no-batch'], { env: model.env })
    expect(contentOf(latestRun(disturbed))).toEqual(contentOf(latestRun(undisturbed)))
    const again = model.answered.slice(whole)
    expect(new Set(again).size, again.join('\n')).toBe(again.length)
    expect(again.toSorted()).toEqual(model.answered.slice(0, whole).toSorted())
    await model.close()
  })

  test('two runs record at once without damaging cassettes: the later one gets an error and can resume', async () => {
    const model = await openModel()
    using place = project()
    const record = [...argv, '--replay', 'record']
    const both = await Promise.all([1, 2].map(() => startGantry(place, record, { env: model.env }).ended))
    const late = both.filter(({ code }) => code === 3)
    expect(both.filter(({ code }) => code === 1).length + late.length).toBe(2)
    for (const { stderr } of late) {
      expect(stderr).toContain('is recording into the cassette')
      const run = /gantry plugin resume (run_\w+)/.exec(stderr)?.[1] ?? ''
      expect(await gantry(place, ['plugin', 'resume', run], { env: model.env })).toMatchObject({ code: 1 })
    }
    await model.close()
    const recorded = runIds(place).map((id) => contentOf(runPath(place, id)))
    expect(recorded[0]).toEqual(recorded[1])
    const strict = await gantry(place, [...argv, '--replay', 'strict'])
    expect(strict.code, strict.stderr).toBe(1)
    expect(contentOf(latestRun(place))).toEqual(recorded[0])
  })

  test('stops when the budget is used up, and resumes with a higher one without paying twice', async () => {
    const model = await openModel()
    using place = project()
    const poor = await gantry(place, [...argv, '--max-cost-usd', '0.1'], { env: model.env })
    const run = latestRun(place)?.split('/').at(-1) ?? ''
    expect(poor.stderr).toContain(`gantry plugin resume ${run} --max-cost-usd`)
    expect(readRun(latestRun(place) ?? '').document.not_run.length).toBe(2)
    await gantry(place, ['plugin', 'resume', run], { env: model.env })
    const still = readRun(latestRun(place) ?? '').document
    expect(still.not_run.length, 'what was spent before counts').toBeGreaterThan(0)
    expect(still.summary.costs.total_cost_usd).toBeLessThanOrEqual(0.1)
    await gantry(place, ['plugin', 'resume', run, '--max-cost-usd', '1'], { env: model.env })
    await model.close()
    const { document, trials } = readRun(latestRun(place) ?? '')
    expect(document).toMatchObject({ not_run: [], summary: { counts: { infra: 0, invalid: 0 } } })
    const { total_cost_usd: total, lost_cost_usd: lost } = document.summary.costs
    const kept = trials.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0)
    expect(total).toBeCloseTo(kept + lost)
    const first = model.answered.filter((name) => name.startsWith(trials[0]?.scenario_id ?? '?'))
    expect(new Set(first).size).toBe(first.length)
  })
})
