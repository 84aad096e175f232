import { afterAll, beforeAll, expect, test } from 'vitest'
import { behaviours } from '../../e2e/plugin/behaviours.ts'
import { type Evaluated, evaluated, firedIn, kitchenProject, putSettings } from '../../e2e/plugin/lab.ts'
import type { TestProject } from '../../e2e/support/project.ts'
import { whenInstalled } from '../support/when-installed.ts'

const tried = behaviours.filter(({ id }) =>
  [
    'how-skill-rightly',
    'how-skill-inside',
    'how-skill-rightly-quiet',
    'how-agent-rightly',
    'how-command-typed',
    'how-hook-rightly',
    'how-mcp-server-rightly',
  ].includes(id),
)
const settings = { id: 'claude-code', behaviours: tried }
const argv = ['run', '--filter', 'how-', '--arms', 'without,alone', '-j', '2']

whenInstalled(['claude-code'], 'an evaluation recorded once', () => {
  let project: TestProject
  let recorded: Evaluated
  const strict = (): Promise<Evaluated> => evaluated(project, [...argv, '--replay', 'strict'])

  beforeAll(async () => {
    project = kitchenProject(settings)
    recorded = await evaluated(project, [...argv, '--replay', 'record'])
    putSettings(project, { ...settings, isScripted: false })
  }, 300_000)
  afterAll(() => project?.[Symbol.dispose]())

  test('is replayed without a key with the same result', async () => {
    const replayed = await strict()
    expect(gist(replayed)).toEqual(gist(recorded))
    expect(replayed.trials.length).toBe(tried.length * 2)
    expect([recorded.code, replayed.code]).toEqual([0, 0])
    expect(needsRecording(replayed)).toEqual([])
  }, 300_000)

  test('says which scenarios need recording again when the text of a skill changes', async () => {
    const file = 'plugin/skills/brew-tea/SKILL.md'
    const before = project.read(file)
    project.write({ [file]: before.replace('Take your time.', 'Warm the pot first.') })
    const replayed = await strict()
    project.write({ [file]: before })
    expect(replayed.code).toBe(2)
    expect(needsRecording(replayed)).toEqual(['how-skill-inside alone', 'how-skill-rightly alone'])
  }, 300_000)

  test('needs a new recording of every trial with the plugin when a description changes, and of nothing else', async () => {
    const file = 'plugin/skills/brew-tea/SKILL.md'
    const before = project.read(file)
    project.write({ [file]: before.replace('Brews a pot of tea.', 'Brews a pot of green tea.') })
    const replayed = await strict()
    project.write({ [file]: before })
    expect(needsRecording(replayed)).toEqual(tried.map(({ id }) => `${id} alone`).toSorted())
    expect(replayed.stderr + replayed.stdout).toContain('green tea')
  }, 300_000)
})

function gist({ trials }: Evaluated): unknown {
  return trials
    .map((trial) => [
      `${trial.scenario_id} ${trial.trial.arm}`,
      trial.verdict,
      trial.triggered,
      trial.confidence,
      trial.conflict.conflict_severity,
      firedIn(trial),
    ])
    .toSorted()
}

/** By scenario and arm, in order. */
function needsRecording({ document, trials }: Evaluated): readonly string[] {
  const { needs_recording } = document.summary
  return trials
    .filter(({ trial }) => needs_recording.includes(trial.id))
    .map(({ trial }) => `${trial.scenario_id} ${trial.arm}`)
    .toSorted()
}
