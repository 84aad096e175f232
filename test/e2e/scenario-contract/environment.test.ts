import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { gantryTest, onlyTrial } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'
import { trialText } from '../support/trial-files.ts'

const variables = ['FIXTURE_DIR', 'RESULTS_DIR', 'SCENARIO', 'AGENT', 'MODEL', 'TRANSCRIPT', 'EVENTS']
const dumpTo = (file: string): string => `env | grep -E '^(LLM_TOOL_TEST|GANTRY)_' | sort > ${file}`

function parsed(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .trimEnd()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

describe('the variables of scripts', () => {
  const scenario = {
    setup: { commands: [dumpTo('setup.env')] },
    scripts: {
      post: [{ command: dumpTo('post.env') }],
      evaluators: [{ name: 'e', command: `${dumpTo('evaluator.env')}; echo '{}'` }],
    },
    evaluation: {
      gates: [
        { type: 'script', command: dumpTo('script.env'), description: 'd' },
        { type: 'command_succeeds', command: dumpTo('gate.env') },
      ],
    },
  }

  test('are all there for post scripts, gates and evaluators, under both prefixes', async () => {
    using project = smallProject({ scenario })
    const trial = onlyTrial(await gantryTest(project, ['--model', 'm-1']))
    const expected = {
      FIXTURE_DIR: `${trial.dir}/fixture`,
      RESULTS_DIR: trial.dir,
      SCENARIO: 'case',
      AGENT: 'worker',
      MODEL: 'm-1',
      TRANSCRIPT: `${trial.dir}/transcript.raw.txt`,
      EVENTS: `${trial.dir}/events.jsonl`,
    }
    for (const file of ['post.env', 'script.env', 'gate.env', 'evaluator.env']) {
      const env = parsed(trialText(trial, `fixture/${file}`))
      for (const [name, value] of Object.entries(expected)) {
        expect(env[`LLM_TOOL_TEST_${name}`], `${file} ${name}`).toBe(value)
        expect(env[`GANTRY_${name}`], `${file} ${name}`).toBe(value)
      }
    }
  })

  test('lack transcript and events before the agent ran', async () => {
    using project = smallProject({ scenario })
    const env = parsed(trialText(onlyTrial(await gantryTest(project)), 'fixture/setup.env'))
    for (const name of variables.slice(0, 5)) expect(env).toHaveProperty(`LLM_TOOL_TEST_${name}`)
    expect(env).not.toHaveProperty('LLM_TOOL_TEST_TRANSCRIPT')
    expect(env).not.toHaveProperty('GANTRY_EVENTS')
  })

  test('lead to files that hold the agent’s words and calls already', async () => {
    using project = smallProject({
      turns: [{ say: 'hello there' }, { run: 'true' }],
      gates: [
        {
          type: 'command_output_contains',
          command: 'cat $LLM_TOOL_TEST_TRANSCRIPT',
          substring: 'hello there',
        },
        { type: 'command_output_contains', command: 'cat $GANTRY_EVENTS', substring: '"event":"complete"' },
      ],
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
  })

  test('give way to target.env', async () => {
    using project = smallProject({
      scenario: {
        target: { binary: 'sh', env: { LLM_TOOL_TEST_SCENARIO: 'mine' } },
        evaluation: {
          gates: [
            { type: 'command_output_contains', command: 'echo $LLM_TOOL_TEST_SCENARIO', substring: 'mine' },
          ],
        },
      },
    })
    expect(onlyTrial(await gantryTest(project)).verdict).toBe('pass')
  })
})

describe('the agent', () => {
  const asking = (command: string[], rest: Record<string, unknown> = {}) => ({
    config: { agents: { sh: { driver: 'command', command, ...rest } } },
  })

  test.each([
    ['stdin', ['sh', '-c', 'cat > done.txt'], {}],
    ['argv', ['sh', '-c', 'printf %s "$1" > done.txt', 'sh', '{prompt}'], {}],
    ['file', ['sh', '-c', 'cat "$1" > done.txt', 'sh', '{prompt_file}'], {}],
  ])('gets the prompt byte for byte by %s', async (_way, command, rest) => {
    const prompt = '  Grüße, "quotes" \'n $HOME `id` {model}\n\n\ttab \\n\u2028\n'
    using project = smallProject({ ...asking(command, rest), scenario: { task: { prompt } } })
    expect(trialText(onlyTrial(await gantryTest(project)), 'fixture/done.txt')).toBe(prompt)
  })

  test('sees target.env and a home of its own, and nothing else of the caller', async () => {
    using project = smallProject({
      ...asking(['sh', '-c', 'env > done.txt']),
      scenario: { target: { binary: 'sh', env: { STORE: 'x' } } },
    })
    const run = await gantryTest(project, [], { env: { SECRET_OF_CALLER: 'hidden', EDITOR: 'vi' } })
    const trial = onlyTrial(run)
    const env = parsed(trialText(trial, 'fixture/done.txt'))
    expect(env).toMatchObject({ STORE: 'x', HOME: `${trial.dir}/home` })
    expect(env).not.toHaveProperty('SECRET_OF_CALLER')
    expect(env).not.toHaveProperty('EDITOR')
  })

  test(`gets what its configuration grants: env with $\{VAR}, inherit_env, the host’s home`, async () => {
    using project = smallProject(
      asking(['sh', '-c', 'env > done.txt; cat "$HOME/greeting" >> done.txt'], {
        env: { LEVEL: `is-$\{DEPTH}` },
        inherit_env: ['WANTED'],
        home: 'host',
      }),
    )
    writeFileSync(`${project.home}/greeting`, 'HELLO=host\n')
    const run = await gantryTest(project, [], { env: { DEPTH: '3', WANTED: 'w', UNWANTED: 'u' } })
    const env = parsed(trialText(onlyTrial(run), 'fixture/done.txt'))
    expect(env).toMatchObject({ LEVEL: 'is-3', WANTED: 'w', HELLO: 'host', HOME: project.home })
    expect(env).not.toHaveProperty('UNWANTED')
  })

  test('works in the workspace and gets the model’s name', async () => {
    using project = smallProject(asking(['sh', '-c', 'echo "$PWD $1" > done.txt', 'sh', '{model}']))
    const trial = onlyTrial(await gantryTest(project, ['--model', 'opus/4']))
    expect(trialText(trial, 'fixture/done.txt')).toBe(`${trial.dir}/fixture opus/4\n`)
  })

  test('leaves its temporary files in a directory that is gone afterwards', async () => {
    using project = smallProject(asking(['sh', '-c', 'echo "$TMPDIR" > done.txt; touch "$TMPDIR/x"']))
    const trial = onlyTrial(await gantryTest(project))
    const tmp = trialText(trial, 'fixture/done.txt').trim()
    expect(tmp.startsWith(trial.dir)).toBe(true)
    expect(() => readFileSync(`${tmp}/x`)).toThrow('ENOENT')
  })
})
