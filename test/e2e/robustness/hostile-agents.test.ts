import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { unpacked } from '../../support/sample-run.ts'
import { gantry, gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { trialEvents, trialText } from '../support/trial-files.ts'
import { processesOf, runIds, shellAgent } from './lab.ts'

describe('an agent whose program', () => {
  test.each<[string, unknown[], RegExp]>([
    [
      'is not there',
      ['./nothing.sh'],
      /gantry\.yaml:\d+:\d+: agent 'worker' cannot be used: .*nothing\.sh does not exist\./,
    ],
    ['is not on PATH', ['no-such-agent'], /agent 'worker' cannot be used: no-such-agent is not on the PATH/],
    [
      'is not executable',
      ['./plain.sh'],
      /agent 'worker' cannot be used: .*plain\.sh is not executable; use chmod \+x/,
    ],
    ['is a directory', ['./fixtures'], /agent 'worker' cannot be used: .*fixtures does not exist\./],
  ])('%s is reported before anything is created', async (_how, command, message) => {
    using project = smallProject({ config: shellAgent({ command }), files: { 'plain.sh': 'echo hi\n' } })
    const { code, stderr } = await gantry(project, ['test'])
    expect(stderr).toMatch(message)
    expect(code).toBe(2)
  })

  test.each<[string, string, string]>([
    ['exits 127', 'exit 127', "the agent's command could not be run (exit 127)"],
    ['exits 126', 'exit 126', "the agent's command could not be run (exit 126)"],
    [
      'starts a program that is not there',
      'exec no-such-program',
      "the agent's command could not be run (exit 127)",
    ],
  ])('%s makes the trial infra, not failed', async (_how, script, reason) => {
    using project = smallProject({ config: shellAgent(), files: { 'agent.sh': script } })
    const result = await gantryTest(project, ['--infra-retries', '1'])
    expect(onlyTrial(result)).toMatchObject({ verdict: 'infra', infraRetries: 1 })
    expect(onlyTrial(result).reason).toContain(reason)
    expect(result.code).toBe(3)
  })

  test('has a broken interpreter line makes the trial infra', async () => {
    using project = smallProject({
      config: shellAgent({ command: ['./agent.sh'] }),
      files: { 'agent.sh': '#!/no/such/interpreter\n' },
    })
    const result = await gantryTest(project, ['--infra-retries', '0'])
    expect(onlyTrial(result)).toMatchObject({ verdict: 'infra', ending: 'not_started' })
    expect(result.code).toBe(3)
  })

  test.each([
    ['crashes', 'kill -SEGV $$', 'crashed'],
    ['exits with an error', 'exit 3', 'exited'],
  ])('%s is judged by what it left', async (_how, end, ending) => {
    using project = smallProject({ config: shellAgent(), files: { 'agent.sh': `echo > done.txt; ${end}` } })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({
      verdict: 'pass',
      ending,
      metrics: { completed: false },
    })
  })
})

describe('an agent that will not go', () => {
  test('by SIGTERM is killed hard at its limit, and judged', async () => {
    using project = smallProject({
      config: shellAgent(),
      files: { 'agent.sh': "trap '' TERM INT HUP; echo > done.txt; while :; do sleep 0.2; done" },
    })
    const trial = onlyTrial(await gantryTest(project, ['--timeout', '1s']))
    expect(trial).toMatchObject({ verdict: 'pass', ending: 'timed_out', agentExitCode: null })
    expect(processesOf(project)).toEqual([])
  })

  test.each<[string, string]>([
    ['in a session of its own', 'setsid sh -c "trap \'\' TERM; sleep 300" >/dev/null 2>&1 </dev/null &'],
    ['twice removed', '(setsid sh -c "(sleep 300 &) ; exec sleep 300" >/dev/null 2>&1 </dev/null &)'],
    ['that holds its output open', 'setsid sleep 300 &'],
    ['by nohup', 'nohup sleep 300 >/dev/null 2>&1 &'],
  ])('and leaves a daemon %s behind leaves nothing alive', async (_how, daemon) => {
    using project = smallProject({
      config: shellAgent(),
      files: { 'agent.sh': `${daemon}\nsleep 0.1; echo > done.txt` },
    })
    expect(onlyTrial(await gantryTest(project))).toMatchObject({ verdict: 'pass', ending: 'exited' })
    expect(processesOf(project)).toEqual([])
  })

  test.each<[string, Record<string, unknown>]>([
    ['setup command', { setup: { commands: ['setsid sleep 300 >/dev/null 2>&1 &'] } }],
    ['post script', { scripts: { post: [{ command: 'setsid sleep 300 >/dev/null 2>&1 &' }] } }],
    [
      'evaluator',
      { scripts: { evaluators: [{ name: 'e', command: 'setsid sleep 300 >/dev/null 2>&1 &' }] } },
    ],
    [
      'gate',
      {
        evaluation: {
          gates: [{ type: 'command_succeeds', command: 'setsid sleep 300 >/dev/null 2>&1 & true' }],
        },
      },
    ],
  ])('a %s that leaves a daemon leaves nothing alive either', async (_what, scenario) => {
    using project = smallProject({ scenario })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
    expect(processesOf(project)).toEqual([])
  })
})

describe('output that is hardly text', () => {
  const hostile = Buffer.concat([
    Buffer.from('\x1b[2J\x1b[31mred\x1b]0;title\x07\x1b]8;;http://x\x07link\r\n'),
    Buffer.from([0xff, 0xfe, 0x80, 0x00, 0x00, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
    Buffer.from('\u202Eright to left\u0007\b\b\n'),
  ])

  test.each(['text', 'events', 'claude-stream-json', 'codex-json'])(
    'is survived as %s and reaches no terminal as it is',
    async (output) => {
      using project = smallProject({
        config: shellAgent({ output }),
        gates: [{ type: 'command_output_contains', command: 'cat bytes; exit 1', substring: 'nothing' }],
        files: { 'agent.sh': 'cat "$BYTES" | tee bytes; cat "$BYTES" >&2' },
      })
      writeFileSync(project.path('bytes'), hostile)
      project.write({
        'gantry.yaml': {
          agents: {
            worker: {
              driver: 'command',
              command: ['sh', './agent.sh'],
              output,
              env: { BYTES: project.path('bytes') },
            },
          },
        },
      })
      const { code, stdout, stderr } = await gantry(project, [
        'test',
        '--reporter',
        'junit:out/junit.xml',
        '--reporter',
        'tap:out/tap',
        '--reporter',
        'md:out/md',
        '--reporter',
        'html:out/html',
        '--reporter',
        'json:out/json',
      ])
      expect(stderr).toBe('')
      expect(code).toBe(1)
      expect(stdout).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
      for (const file of ['junit.xml', 'tap', 'md', 'html', 'json'])
        expect(unpacked(project.read(`out/${file}`)), file).not.toMatch(/[\x00\x07\x08\x1b]/)
      expect(() => JSON.parse(project.read('out/json'))).not.toThrow()
    },
  )

  test('lone surrogates, NULs and odd shapes in JSON events are kept or passed over, never fatal', async () => {
    const lines = [
      '{"event":"message","role":"assistant","text":"lone \\ud800 and \\u0000 here"}',
      '{"event":"tool_call","id":"1","tool":"Bash","command":"sh \\ud83d"}',
      '{"event":"tool_result","id":"1","output":"\\udfff","exit_code":0}',
      '{"event":"tool_result","id":"nobody","output":{"not":"text"},"exit_code":"zero"}',
      '{"event":"usage","input_tokens":-5,"output_tokens":1e400,"cost_usd":"free"}',
      '{"event":"__proto__","__proto__":{"polluted":true}}',
      '{"event":{"event":"event"}}',
      '[]',
      'null',
      '42',
      '"text"',
      '{"event":"message"',
      '',
      '{"event":"complete","exit_code":0,"ending":"exited"}',
    ]
    using project = smallProject({
      config: shellAgent({ output: 'events', env: { LINES: '/dev/null' } }),
      files: { 'agent.sh': 'echo > done.txt; cat "$0.jsonl"', 'agent.sh.jsonl': `${lines.join('\n')}\n` },
    })
    const result = await gantryTest(project)
    const trial = onlyTrial(result)
    expect(trial).toMatchObject({ verdict: 'pass', metrics: { total_commands: 1 } })
    expect(trialEvents(trial).filter(({ event }) => event === 'complete')).toHaveLength(1)
    expect(result).toMatchObject({ code: 0, stderr: '' })
  })

  test('20,000 events are all kept, and counted', async () => {
    using project = smallProject({
      config: shellAgent({ output: 'events' }),
      files: {
        'agent.sh': `echo > done.txt
awk 'BEGIN { for (i = 0; i < 10000; i++) {
  printf "{\\"event\\":\\"tool_call\\",\\"id\\":\\"%d\\",\\"tool\\":\\"Bash\\",\\"command\\":\\"sh -c %d\\"}\\n", i, i
  printf "{\\"event\\":\\"tool_result\\",\\"id\\":\\"%d\\",\\"output\\":\\"ok\\",\\"exit_code\\":0}\\n", i } }'`,
      },
    })
    const trial = onlyTrial(await gantryTest(project))
    expect(trial).toMatchObject({
      verdict: 'pass',
      metrics: { total_commands: 10_000, unique_commands: 10_000 },
    })
    expect(
      trialText(trial, 'events.jsonl')
        .split('\n')
        .filter((line) => line.includes('"tool_')),
    ).toHaveLength(20_000)
  })

  test('an agent that reads no prompt or closes all streams does not break the run', async () => {
    using project = smallProject({
      config: shellAgent(),
      scenario: { task: { prompt: `Write done.txt. ${'x'.repeat(300_000)}` } },
      files: { 'agent.sh': 'exec 0<&- 1>&- 2>&-; echo > done.txt; sleep 0.2' },
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
  })

  test('a prompt too long for a command line is reported as such', async () => {
    using project = smallProject({
      config: shellAgent({ command: ['sh', './agent.sh', '{prompt}'] }),
      scenario: { task: { prompt: 'x'.repeat(300_000) } },
      files: { 'agent.sh': 'echo > done.txt' },
    })
    const trial = onlyTrial(await gantryTest(project, ['--infra-retries', '0']))
    expect(trial.verdict).toBe('infra')
    expect(trial.reason).toContain(
      'The prompt is too long for a command line: use `prompt: stdin` or `prompt: file`.',
    )
  })
})

describe('the machine between agent and gates', () => {
  test('a workspace the agent filled with hostile names is kept and cleaned', async () => {
    using project = smallProject({
      gates: [
        { type: 'file_exists', path: 'done.txt' },
        { type: 'workspace_delta', allow: ['**'] },
      ],
      config: shellAgent(),
      files: {
        'agent.sh': `echo > done.txt; printf x > "$(printf 'bad\\377name')"; printf x > '-rf'; printf x > "$(printf 'new\\nline')"
mkdir -p deep; cd deep; i=0; while [ $i -lt 200 ]; do mkdir -p ddddddddddddddddddddddddddddddddddd && cd ddddddddddddddddddddddddddddddddddd || break; i=$((i+1)); done
mkdir closed; chmod 000 closed`,
      },
    })
    const result = await gantryTest(project)
    expect(result).toMatchObject({ stderr: '' })
    expect(onlyTrial(result).gates[0]?.passed).toBe(true)
    const cleaned = await gantry(project, ['runs', 'clean', '--all'])
    expect(cleaned).toMatchObject({ code: 0, stderr: '' })
    expect(runIds(project)).toEqual([])
  })
})
