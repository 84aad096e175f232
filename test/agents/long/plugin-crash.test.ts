import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { IncomingCall } from '../../../src/models/boundary/contract.ts'
import { answersIn, opening } from '../../../src/models/boundary/script/subagent-wait.ts'
import { behaviours, modelScript } from '../../e2e/plugin/behaviours.ts'
import { openCountedModel } from '../../e2e/plugin/counted-model.ts'
import { kitchenProject, latestRun, readRun } from '../../e2e/plugin/lab.ts'
import { runIds, until } from '../../e2e/robustness/lab.ts'
import { startGantry } from '../../e2e/support/gantry.ts'
import { descendantsOf } from '../../support/descendants-of.ts'
import { isAlive } from '../../support/is-alive.ts'
import { whenInstalled } from '../support/when-installed.ts'

const tried = behaviours.filter(({ id }) =>
  ['skill-rightly', 'skill-inside', 'skill-never', 'command-twice', 'mcp-server-wrongly'].some((name) =>
    id.endsWith(name),
  ),
)

/** What a model is asked for when it writes scenarios, and what a judge is asked for: in the same script as the agent's. */
const script = {
  ...modelScript(tried),
  rules: [
    {
      when: { kind: 'any', system: 'You write test scenarios' },
      turns: [
        {
          text: JSON.stringify({
            ideas: [{ id: 'b1', idea: 'somebody is thirsty' }],
            scenarios: [
              {
                slot: 's1',
                base_id: 'b1',
                scenario_type: 'direct',
                user_prompt: 'My guests come at five and I would like to give them something.',
                expected_trigger: true,
                reasoning: 'It is what the component is for.',
                original_trigger_phrase: null,
                semantic_variation_type: null,
                neighbour: null,
                setup_messages: null,
              },
            ],
          }),
        },
      ],
    },
    {
      when: { kind: 'any', system: 'You judge one session of a coding agent' },
      turns: [
        {
          text: JSON.stringify({
            triggered: true,
            trigger_accuracy: 'correct',
            quality_score: 8,
            response_relevance: 8,
            issues: [],
            highlights: [],
            summary: 'It fired.',
          }),
        },
      ],
    },
    ...modelScript(tried).rules,
  ],
}

/** What one call is for, and which of its kind it is: the same name twice is paid twice. */
function nameOf({ call }: IncomingCall): string {
  const all = [call.system, opening(call)].join('\n')
  if (all.includes('You write test scenarios')) return `generation of ${/"name": "([^"]+)"/.exec(all)?.[1]}`
  if (all.includes('You judge one session')) return `judge of ${/\((how-[\w-]+)\)/.exec(all)?.[1]}`
  const errand = /Errand of (how-[\w-]+)/.exec(all)?.[1]
  const scenario = errand ?? /\((how-[\w-]+)\)/.exec(all)?.[1]
  return `${scenario ?? 'another'}${errand === undefined ? '' : ' inside'} ${answersIn(call)}`
}

/** The unit of work a call belongs to: what must never be begun again once it is finished. */
function unitOf(name: string): string {
  return name.replace(/(?: inside)? \d+$/, '')
}

whenInstalled(['claude-code'], 'an evaluation that is killed at every checkpoint', () => {
  test('continues where it stopped, and pays for nothing twice', async () => {
    const model = await openCountedModel(script, nameOf)
    using project = kitchenProject({
      id: 'claude-code',
      behaviours: tried,
      isScripted: false,
      config: {
        generation: { scenarios_per_component: 1, model: 'default' },
        evaluation: { detection_mode: 'llm_only', model: 'default' },
        max_concurrent: 1,
      },
    })
    // Killed evaluations leave their workspaces there.
    const TMPDIR = join(dirname(project.dir), 'tmp')
    mkdirSync(TMPDIR)
    const units = new Set<string>()
    let kills = 0
    const orphans = new Set<number>()
    for (let code: number | null = null; code === null; ) {
      const allowed = kills
      const begun = new Set(units)
      model.hold((name) => {
        const unit = unitOf(name)
        if (begun.has(unit)) return false
        if (begun.size >= allowed) return true
        begun.add(unit)
        units.add(unit)
        return false
      })
      const [run] = runIds(project)
      const argv =
        run === undefined
          ? ['plugin', 'run', '--filter', 'how-', '-j', '1', '--no-batch', '--progress', 'jsonl']
          : ['plugin', 'resume', run, '--no-batch', '--progress', 'jsonl']
      const before = model.held.length
      const { child, ended } = startGantry(project, argv, { env: { ...model.env, TMPDIR } })
      await until(
        'it asks for more than it gets, or has ended',
        () => model.held.length > before || child.exitCode !== null,
      )
      if (child.exitCode === null) {
        const below = descendantsOf(child.pid ?? 0)
        child.kill('SIGKILL')
        // What it had started outlives it, until the run is taken up again.
        for (const pid of below) orphans.add(pid)
        kills += 1
      } else code = child.exitCode
      await ended
    }
    const dir = latestRun(project)
    if (dir === null) throw new Error('there is no run')
    const { trials, document } = readRun(dir)
    expect(trials.map(({ scenario_id }) => scenario_id).toSorted()).toEqual(
      tried.map(({ id }) => id).toSorted(),
    )
    // The judge, who alone decides here, says of all that they fired.
    expect(document.summary.counts).toEqual({ pass: tried.length, fail: 0, infra: 0, invalid: 0 })
    expect(document.summary.judge).toMatchObject({ judged: tried.length, judge_errors: 0 })
    expect(new Set(model.answered).size, model.answered.join('\n')).toBe(model.answered.length)
    expect(runIds(project).length).toBe(1)
    // Every scenario, then every judgement. The filter names no component, so nothing is generated.
    expect(kills).toBe(tried.length * 2)
    await until('nothing is left of those that were killed', () => ![...orphans].some(isAlive))
    await model.close()
  }, 600_000)
})
