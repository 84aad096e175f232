import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject, writes } from '../support/project.ts'
import { trialEvents, trialJson, trialText } from '../support/trial-files.ts'

const turns = [
  { say: 'I begin.' },
  { run: 'echo out; echo err >&2; exit 3' },
  { usage: { input_tokens: 120, output_tokens: 30, cost_usd: 0.02 } },
  writes('done.txt'),
]

function jsonLines(path: string): Record<string, unknown>[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('the directory of a trial', () => {
  test('contains transcript, events, metrics, evaluation, run facts and the workspace', async () => {
    using project = smallProject({ turns })
    const trial = onlyTrial(await gantryTest(project))
    for (const name of [
      'transcript.raw.txt',
      'events.jsonl',
      'metrics.json',
      'evaluation.md',
      'run.json',
      'fixture',
    ])
      expect(existsSync(join(trial.dir, name)), name).toBe(true)
  })

  test('metrics.json has the fields of the contract', async () => {
    using project = smallProject({ turns })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialJson(trial, 'metrics.json')).toMatchObject({
      outcome: 'pass',
      reason: trial.reason,
      gates_passed: 1,
      gates_total: 1,
      gate_results: [
        { type: 'file_exists', passed: true, message: expect.any(String), detail: expect.any(Object) },
      ],
      judge_score: null,
      duration_secs: expect.any(Number),
      cost_usd: 0.02,
      interaction: { completed: true },
      evaluators: {},
    })
  })

  test('run.json records what ran, on what, when and for how much', async () => {
    using project = smallProject({
      scenario: { target: { binary: './bin/tool' } },
      turns,
      files: { 'bin/tool': '#!/bin/sh\necho "tool 4.2"\n' },
    })
    const trial = onlyTrial(await gantryTest(project, ['--model', 'm/1']))
    expect(trialJson(trial, 'run.json')).toMatchObject({
      scenario_id: 'case',
      scenario_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      tool: 'worker',
      tool_version: '1',
      model: 'm/1',
      target_tool_version: 'tool 4.2',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      duration_secs: expect.any(Number),
      cost_estimate_usd: 0.02,
      token_usage: { input: 120, output: 30 },
      cache_key: expect.any(String),
    })
    expect(trial.dir).toMatch(/trials\/0001-case-worker-m-1-1$/)
  })

  test('evaluation.md has its sections, a place for a person, and links that lead somewhere', async () => {
    using project = smallProject({ turns })
    const trial = onlyTrial(await gantryTest(project))
    const document = trialText(trial, 'evaluation.md')
    const headings = [...document.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['Summary', 'Prompt', 'Metrics', 'Gates', 'Human Review', 'Links'])
    expect(document).toMatch(/<!--\nScore \(out of 5\):\nNotes:\n-->/)
    for (const word of ['case', 'worker', 'default', 'Pass', '1/1 passed', '$0.02'])
      expect(document.replaceAll('\\', '')).toContain(word)
    const links = [...document.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path)
    expect(links).toHaveLength(5)
    for (const path of links) expect(existsSync(join(trial.dir, path)), path).toBe(true)
  })

  test('transcript.raw.txt keeps what the agent printed, colours included', async () => {
    using project = smallProject({
      config: {
        agents: {
          sh: {
            driver: 'command',
            command: ['sh', '-c', "printf '\\033[31mred\\033[0m\\n'; touch done.txt"],
          },
        },
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialText(trial, 'transcript.raw.txt')).toBe('\u001b[31mred\u001b[0m\n')
  })
})

describe('events.jsonl', () => {
  test('has one object per line with ts in seconds and event first, from spawn to the gates', async () => {
    using project = smallProject({ turns, scenario: { setup: { commands: ['true'] } } })
    const trial = onlyTrial(await gantryTest(project))
    const lines = trialText(trial, 'events.jsonl').trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(/^\{"ts":\d+(\.\d+)?,"event":"/)
    expect(trialEvents(trial).map(({ event }) => event)).toEqual([
      'setup_command',
      'spawn',
      'session',
      'message',
      'tool_call',
      'tool_result',
      'usage',
      'tool_call',
      'tool_result',
      'complete',
      'gate',
    ])
    const [first, last] = [trialEvents(trial)[0]?.ts ?? 0, trialEvents(trial).at(-1)?.ts ?? 0]
    expect(Math.abs(first - Date.now() / 1000)).toBeLessThan(600)
    expect(last).toBeGreaterThanOrEqual(first)
  })

  test('shows calls with their commands and results with their exit codes', async () => {
    using project = smallProject({ turns })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialEvents(trial, 'spawn')).toMatchObject([{ command: 'scripted', args: [expect.any(String)] }])
    expect(trialEvents(trial, 'tool_call')[0]).toMatchObject({
      tool: 'Bash',
      command: 'echo out; echo err >&2; exit 3',
    })
    const [result] = trialEvents(trial, 'tool_result')
    expect(result).toMatchObject({ exit_code: 3 })
    expect(result?.output).toMatch(/out[\s\S]*err/)
    expect(trialEvents(trial, 'complete')).toMatchObject([
      { exit_code: 0, ending: 'exited', duration_secs: expect.any(Number) },
    ])
  })

  test('shows what a plain command printed', async () => {
    using project = smallProject({
      config: { agents: { sh: { driver: 'command', command: ['sh', '-c', 'echo hello; touch done.txt'] } } },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trialEvents(trial, 'spawn')).toMatchObject([{ command: 'sh', args: ['-c', expect.any(String)] }])
    expect(
      trialEvents(trial, 'output')
        .map(({ text }) => text)
        .join(''),
    ).toContain('hello')
  })
})

describe('the store', () => {
  test('appends every trial and every run to results.jsonl', async () => {
    using project = smallProject({ turns })
    const first = await gantryTest(project)
    const second = await gantryTest(project, ['--no-cache'])
    const lines = jsonLines(join(project.store, 'results.jsonl'))
    expect(lines.map(({ kind, run_id }) => [kind, run_id])).toEqual([
      ['trial', first.run_id],
      ['run', first.run_id],
      ['trial', second.run_id],
      ['run', second.run_id],
    ])
    expect(lines[0]).toMatchObject({
      case: 'case',
      agent: 'worker',
      model: 'default',
      attempt: 1,
      verdict: 'pass',
      cost_usd: 0.02,
      cache_key: expect.any(String),
    })
  })

  test('keeps a run directory that is complete by itself', async () => {
    using project = smallProject({ turns })
    const { run_id, run_dir } = await gantryTest(project)
    expect(run_id).toMatch(/^run_\d{8}_\d{6}_[a-z0-9]{6}$/)
    const manifest = JSON.parse(readFileSync(join(run_dir, 'manifest.json'), 'utf8')) as Record<
      string,
      unknown
    >
    expect(manifest).toMatchObject({
      run_id,
      kind: 'scenario',
      status: 'pass',
      timestamp_start: expect.any(String),
      timestamp_end: expect.any(String),
      commit_sha: expect.any(String),
      commands_executed: [{ exit_code: 0, duration_ms: expect.any(Number) }],
      platform: { os: process.platform },
      versions: { agents: { worker: '1' } },
      totals: { trials: 1, counts: { pass: 1 } },
    })
    const { stdout } = await gantry(project, ['runs', 'show', run_id])
    expect(stdout).toContain('case')
  })

  test('freezes the scenario as it was when the run began', async () => {
    using project = smallProject({ turns })
    const { run_dir } = await gantryTest(project)
    const before = project.read('scenarios/case.yaml')
    project.write({ 'scenarios/case.yaml': 'changed: true\n' })
    const inputs = join(run_dir, 'inputs')
    const texts = readdirSync(inputs).map((name) => readFileSync(join(inputs, name), 'utf8'))
    expect(texts).toContain(before)
  })
})
