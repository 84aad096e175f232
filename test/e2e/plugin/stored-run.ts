import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Execution } from '../../../src/plugin/execute/contract.ts'
import type { PluginScenario } from '../../../src/plugin/generate/contract.ts'
import { sampleExecution, sampleTranscript } from '../../support/plugin-samples.ts'
import { gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'

/** A plugin of two skills, and scenarios of it that end in every way there is. */
export function storedProject(): TestProject {
  return makeProject({
    'plugin/.claude-plugin/plugin.json': JSON.stringify({ name: 'demo', version: '1.2.0' }),
    'plugin/skills/greet/SKILL.md': skill(
      'greet',
      'Greets a person by name. Use when the user says "say hello".',
    ),
    'plugin/skills/part/SKILL.md': skill('part', 'Says goodbye. Use when the user says "say goodbye".'),
    'scenarios.yaml': {
      scenarios: [
        scenario('right', 'Say hello to Bob.'),
        scenario('wrong', 'Bid <b>Bob</b> & "Eve" farewell # not'),
        scenario('broken', 'Say hello to Eve.'),
        scenario('unrecorded', 'Say hello to Ada.'),
        scenario('left-out', 'Say hello to Max.'),
      ],
    },
    'gantry.yaml': {
      plugin: {
        plugin: { path: 'plugin' },
        scenarios: ['scenarios.yaml'],
        scope: { skills: false, agents: false, commands: false },
      },
    },
  })
}

/** What nothing may be taken for markup of. */
export const hostile = 'boom ]]> <failure> & "quoted" # SKIP \u0007 \\'

/** Generates, and puts in the place of an agent's work what it would have left. `left-out` was never run. */
export async function storeRun(project: TestProject): Promise<string> {
  const { stdout, stderr } = await gantry(project, ['plugin', 'generate', '--json'])
  if (stdout === '') throw new Error(stderr)
  const { run_id, run_dir, scenarios } = JSON.parse(stdout) as {
    readonly run_id: string
    readonly run_dir: string
    readonly scenarios: readonly PluginScenario[]
  }
  const call = (skill: string): Partial<Execution> => ({
    detected_tools: [
      {
        name: 'Skill',
        input: { skill },
        tool_use_id: 'toolu_1',
        timestamp: Date.UTC(2026, 10, 15),
        success: true,
      },
    ],
  })
  const ways: Readonly<Record<string, Partial<Execution>>> = {
    right: call('demo:greet'),
    wrong: call('demo:part'),
    broken: { failure: { reason: 'unavailable', message: hostile }, termination_type: 'error' },
    unrecorded: { invalid: `no recording fits: ${hostile}`, needs_recording: true },
  }
  for (const { id } of scenarios) {
    const way = ways[id]
    if (way === undefined) continue
    const trial = { id: `${id}.alone-1`, scenario_id: id, arm: 'alone', rep: 1 } as const
    put(
      join(run_dir, 'trials', trial.id, 'execution.json'),
      sampleExecution({ trial, scenario_id: id, ...way }),
    )
    put(
      join(run_dir, 'transcripts', `${trial.id}.json`),
      sampleTranscript([{ user: 'Hello' }, { assistant: 'Done.' }]),
    )
  }
  const headers = scenarios.map(({ id }) => ({
    id: `${id}.alone-1`,
    case: id,
    agent: 'claude-code',
    model: 'default',
    attempt: 1,
  }))
  put(join(run_dir, 'plan.json'), { trials: headers })
  const statePath = join(run_dir, 'state.json')
  put(statePath, { ...(JSON.parse(readFileSync(statePath, 'utf8')) as object), stage: 'execution' })
  return run_id
}

function put(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(value))
}

function skill(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\nDo it.\n`
}

function scenario(id: string, prompt: string): Readonly<Record<string, unknown>> {
  return {
    id,
    component_type: 'skill',
    component_ref: 'greet',
    scenario_type: 'direct',
    user_prompt: prompt,
    expected_trigger: true,
  }
}
